/** Builds the pages into `../dist`. The built files are committed, so the same sources must produce the same bytes. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Overrides the shell: the committed build is the production build.
process.env.NODE_ENV = 'production';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/',
  plugins: [react()],
  build: {
    outDir: fileURLToPath(new URL('../dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // An image in a style sheet would require `data:` in more directives of the policy.
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        // Without hashes: ETags distinguish the versions of a file, and a build changes only what has changed.
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
});
