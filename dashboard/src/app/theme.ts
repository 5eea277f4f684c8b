/** Mantine theme. */

import { createTheme } from "@mantine/core";

export const theme = createTheme({
  fontFamily: "var(--font)",
  fontFamilyMonospace: "var(--mono)",
  defaultRadius: "sm",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  respectReducedMotion: true,
  cursorType: "pointer",
});
