import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { CallFailed } from './calls.ts';
import { takeTokenFromAddress } from './operator.tsx';
import { followTheme } from './shell/browser.ts';
import './style.css';
import './shell/shell.css';

/** An expired session shows the sign-in form, wherever it is noticed. */
function onError(error: unknown): void {
  if (!(error instanceof CallFailed) || error.status !== 401) return;
  void queries.invalidateQueries({ queryKey: ['console'] });
  void queries.invalidateQueries({ queryKey: ['user'] });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // A retry does not change a rejection.
      retry: (failures, error) => failures < 2 && !(error instanceof CallFailed && error.status < 500),
    },
    // Without a network it fails at once. Otherwise it would be sent, and charged, whenever the network returns.
    mutations: { networkMode: 'always' },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the console.');
followTheme();
// The page for when the server cannot be reached. Without HTTPS, browsers have no service workers.
navigator.serviceWorker?.register('/sw.js').catch(() => undefined);
// Routes have no trailing slash, but links of people may.
const { pathname, search, hash } = location;
if (pathname.length > 1 && pathname.endsWith('/'))
  history.replaceState(null, '', pathname.slice(0, -1) + search + hash);
// The page of a share links to a prompt to remix. Only the user sends it. People may write such links, too.
const linked = new URLSearchParams(search);
if (pathname === '/create' && (linked.has('prompt') || linked.has('share'))) {
  const kind = linked.get('kind') === 'video' ? 'video' : 'image';
  const references = linked.getAll('reference').filter((id) => /^[\da-f-]{36}$/i.test(id));
  const order = { kind, prompt: linked.get('prompt') ?? '', references, share: linked.get('share') ?? undefined };
  history.replaceState({ order, at: Date.now() }, '');
}
// What the landing page has prepared. A URL could not hold the longest prompt. A canceled sign-in returns to the landing page.
const kept = sessionStorage.getItem('atelier.order');
if (kept !== null) {
  sessionStorage.removeItem('atelier.order');
  history.replaceState({ ...JSON.parse(kept), at: Date.now() }, '');
}
await takeTokenFromAddress();
// The link can be pasted into an open tab.
addEventListener('hashchange', async () => {
  if (await takeTokenFromAddress()) await queries.invalidateQueries();
});
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
