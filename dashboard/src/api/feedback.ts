/** Give feedback on a request, remember it until the page is closed, and query the mean score. */

import {
  keepPreviousData,
  queryOptions,
  skipToken,
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { OWN_SOURCE, ownFeedback, withFeedback } from "~/domain/feedback";
import type { LogSearch } from "~/domain/log-search";
import type {
  AcceptedFeedback,
  FeedbackSummary,
  NewFeedback,
  RequestDetail,
  RequestFeedback,
  Row,
} from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import { askedOf, requestQuery } from "./requests";
import { useStatus } from "./status";

/** The mean score of the requests that match a filter. */
export function feedbackSummaryQuery(search: LogSearch) {
  const params = askedOf(search);
  return queryOptions({
    queryKey: ["feedback-summary", params],
    queryFn: ({ signal }) => getJson<FeedbackSummary>(apiUrl("feedback", params), signal),
    staleTime: 10_000,
    refetchInterval: search.live === false ? false : 10_000,
    placeholderData: keepPreviousData,
  });
}

/** Whether any request in the log has feedback. */
export function useHasFeedback(): boolean {
  return useStatus(({ feedback }) => feedback > 0) ?? false;
}

export type OwnFeedback = Pick<NewFeedback, "score" | "label" | "comment">;

/**
 * The feedback that was given on this page since the page was loaded, by the id of the request. Rows of the log may be
 * older than this feedback.
 */
const givenQuery = queryOptions<Readonly<Record<string, RequestFeedback>>>({
  queryKey: ["given-feedback"],
  queryFn: skipToken,
  gcTime: Infinity,
});

/** The feedback on a row, including the feedback that was given on this page. */
export function useFeedback({ id, feedback }: Row): readonly RequestFeedback[] {
  return withFeedback(feedback, useQuery({ ...givenQuery, select: (given) => given[id] }).data);
}

/**
 * Give feedback on a request. Fields that are not in `changes` keep their latest values, even if another user has just
 * set them. The open request and its row show the feedback at once.
 */
export function useGiveFeedback(id: string): UseMutationResult<AcceptedFeedback, Error, Partial<OwnFeedback>> {
  const client = useQueryClient();
  return useMutation({
    // One after the other, because each change is added to the feedback before it.
    scope: { id: `feedback ${id}` },
    mutationFn: async (changes: Partial<OwnFeedback>) => {
      const request = await client.fetchQuery({ ...requestQuery(id), staleTime: 0 });
      const given = client.getQueryData(givenQuery.queryKey)?.[id];
      const { score = null, label = null, comment = null } = ownFeedback(withFeedback(request.feedback, given)) ?? {};
      const feedback: NewFeedback = { score, label, comment, ...changes, source: OWN_SOURCE };
      return sendJson<AcceptedFeedback>("POST", apiUrl(`requests/${encodeURIComponent(id)}/feedback`), feedback);
    },
    onSuccess: ({ feedback }) => {
      client.setQueryData(givenQuery.queryKey, (given) => ({ ...given, [id]: feedback }));
      // The URL may have another id of the open request.
      client.setQueriesData<RequestDetail>(
        { queryKey: ["request"], predicate: ({ state }) => (state.data as RequestDetail | undefined)?.id === id },
        (request) => request && { ...request, feedback: [...withFeedback(request.feedback, feedback)] },
      );
      return client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}
