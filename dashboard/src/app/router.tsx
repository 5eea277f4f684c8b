/** Routes and the application root. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  RouterProvider,
  redirect,
} from "@tanstack/react-router";
import { lastGoodQuery } from "~/api/compare";
import { PAGE } from "~/api/page-config";
import { parsedQuery } from "~/api/query";
import { EMPTY_SEARCH, formatSearch, type LogSearch, parseSearch, queryText, replaceQuery } from "~/domain/log-search";
import { RequestsPage } from "~/features/requests/requests-page";
import { LAST_GOOD } from "~/navigation/links";
import { NotFound, PageFailed } from "./error-pages";
import { AppFrame, windowTitle } from "./layout";
import { startReading } from "./prefetch";
import { Providers, queryClient } from "./providers";

const root = createRootRoute({
  component: AppFrame,
  notFoundComponent: NotFound,
  errorComponent: PageFailed,
  // `parseSearch` of the router below has already parsed the search.
  validateSearch: (search) => search as unknown as LogSearch,
  beforeLoad: ({ search }) => convertQuery(search),
});
const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: ({ search }) => {
    throw redirect({ to: "/requests", search, replace: true });
  },
});
const requests = createRoute({
  getParentRoute: () => root,
  path: "/requests",
  component: RequestsPage,
  staticData: { title: "Requests" },
});
const request = createRoute({ getParentRoute: () => requests, path: "$id" });
// The code of the other pages is loaded when they are opened.
const namespaces = createRoute({
  getParentRoute: () => root,
  path: "/namespaces",
  component: lazyRouteComponent(() => import("~/features/namespaces/namespaces-page"), "NamespacesPage"),
  staticData: { title: "Namespaces" },
});
const overview = createRoute({
  getParentRoute: () => root,
  path: "/overview",
  component: lazyRouteComponent(() => import("~/features/overview/overview-page"), "OverviewPage"),
  staticData: { title: "Overview" },
});
const thread = createRoute({
  getParentRoute: () => root,
  path: "/thread",
  component: lazyRouteComponent(() => import("~/features/thread/thread-page"), "ThreadPage"),
  staticData: { title: "Conversation" },
});
const connect = createRoute({
  getParentRoute: () => root,
  path: "/connect",
  component: lazyRouteComponent(() => import("~/features/connect/connect-page"), "ConnectPage"),
  staticData: { title: "Connect a client" },
});
const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare/$a/$b",
  component: lazyRouteComponent(() => import("~/features/compare/compare-page"), "ComparePage"),
  beforeLoad: ({ params }) => replaceLastGood(params),
  staticData: { title: "Compare" },
});
const deletions = createRoute({
  getParentRoute: () => root,
  path: "/deletions",
  component: lazyRouteComponent(() => import("~/features/deletions/deletions-page"), "DeletionsPage"),
  staticData: { title: "Deletions" },
});
const receipt = createRoute({
  getParentRoute: () => root,
  path: "/deletions/$id",
  component: lazyRouteComponent(() => import("~/features/deletions/deletions-page"), "ReceiptPage"),
  staticData: { title: "Deletion" },
});

const router = createRouter({
  routeTree: root.addChildren([
    home,
    requests.addChildren([request]),
    namespaces,
    overview,
    thread,
    connect,
    compare,
    deletions,
    receipt,
  ]),
  basepath: PAGE.base === "" ? "/" : PAGE.base,
  parseSearch: (text) => parseSearch(text) as unknown as Record<string, unknown>,
  stringifySearch: (search) => formatSearch(search as unknown as LogSearch),
});

/** Replace a query in the URL with equivalent parameters. An invalid query stays, so that the user can correct it. */
async function convertQuery(search: LogSearch): Promise<void> {
  const text = queryText(search.filter);
  if (text === "") return;
  const parsed = await queryClient.ensureQueryData(parsedQuery(text)).catch(() => undefined);
  if (parsed === undefined || parsed.error !== null) return;
  const converted = replaceQuery(search, parsed.params);
  if (converted !== undefined) throw redirect({ to: ".", search: converted, replace: true });
}

/** Replace the place of the last successful request in the URL by its id. If there is none, the page says so. */
async function replaceLastGood({ a, b }: { a: string; b: string }): Promise<void> {
  if (a !== LAST_GOOD) return;
  const found = await queryClient.fetchQuery(lastGoodQuery(b)).catch(() => undefined);
  if (!found?.is_alike || found.request === null) return;
  throw redirect({ to: "/compare/$a/$b", params: { a: found.request.id, b }, search: EMPTY_SEARCH, replace: true });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** The name of the page in the title of the window. */
    title?: string;
  }
}

router.subscribe("onResolved", () => {
  const { matches, location } = router.state;
  const name = matches.find(({ staticData }) => staticData.title !== undefined)?.staticData.title;
  document.title = windowTitle(name, location.search as LogSearch);
});

startReading(queryClient);

/** The whole page. */
export function App() {
  return (
    <Providers>
      <RouterProvider router={router} />
    </Providers>
  );
}
