/** Builds the pages into `../dist`, byte for byte the same from the same sources: the built files are committed. */
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Whatever the shell says: what is committed is what production gets.
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
    // A picture in a style sheet would need `data:` in more places than the policy has it.
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        // Without hashes: the files are told apart by their ETag, and a build changes only what has changed.
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
});
