/** Context providers of the application: Mantine's theme and the query client. */

import { createTheme, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { retryWhenUnreachable } from "~/api/client";
import { PAGE } from "~/api/page-config";

const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  defaultRadius: "sm",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  respectReducedMotion: true,
  cursorType: "pointer",
});

export const queryClient = new QueryClient({
  defaultOptions: {
    // Relaybook often runs on this machine, so queries also run without a network.
    queries: {
      retry: false,
      refetchOnWindowFocus: false,
      refetchInterval: retryWhenUnreachable,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

export function Providers({ children }: { children: ReactNode }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => PAGE.nonce}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </MantineProvider>
  );
}
