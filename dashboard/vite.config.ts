/// <reference types="vitest/config" />
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const sources = fileURLToPath(new URL("./src", import.meta.url));
const page = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Replaces `__BUILD__` in the pages by a hash of all built files, so that an open tab notices a newer build. */
function buildId(): Plugin {
  return {
    name: "relaybook-build-id",
    enforce: "post",
    apply: "build",
    generateBundle(_, bundle) {
      const hash = createHash("sha256");
      for (const name of Object.keys(bundle).sort()) hash.update(name);
      const id = hash.digest("hex").slice(0, 16);
      for (const file of Object.values(bundle)) {
        if (file.type === "asset" && file.fileName.endsWith(".html")) {
          file.source = String(file.source).replaceAll("__BUILD__", id);
        }
      }
    },
  };
}

// Tests run in a time zone other than UTC. Otherwise, a timestamp that is read as local time would pass them.
process.env.TZ = "Asia/Tokyo";

export default defineConfig({
  base: "./",
  plugins: [react(), buildId()],
  resolve: { alias: { "~": sources } },
  html: { cspNonce: "__NONCE__" },
  build: {
    outDir: page("../src/relaybook/page/static"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: [page("index.html"), page("sign-in.html")],
      output: {
        // Few files until the log is shown. The sign-in page keeps its own small script.
        codeSplitting: {
          groups: [
            { name: "libraries", tags: ["$initial"], test: /node_modules/ },
            { name: "page", tags: ["$initial"], test: /src\/(?!features\/sign-in)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:4101" } },
  test: {
    testTimeout: 30_000,
    environment: "jsdom",
    pool: "vmThreads",
    setupFiles: ["src/test/setup.ts"],
  },
});
