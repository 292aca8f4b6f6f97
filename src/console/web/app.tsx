import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import type { ConsoleInfo } from '../api.ts';
import { EndSession, OperatorOnly, useConsole } from './operator.tsx';
import { Overview } from './pages/overview.tsx';
import { Loading } from './parts/states.tsx';
import { UserOnly } from './user.tsx';

const Studio = lazy(async () => ({ default: (await import('./pages/studio.tsx')).Studio }));
const Library = lazy(async () => ({ default: (await import('./pages/library.tsx')).Library }));
const Memory = lazy(async () => ({ default: (await import('./pages/memory.tsx')).Memory }));
const Mail = lazy(async () => ({ default: (await import('./pages/mail.tsx')).Mail }));
const Webhooks = lazy(async () => ({ default: (await import('./pages/webhooks.tsx')).Webhooks }));
const Content = lazy(async () => ({ default: (await import('./pages/content.tsx')).Content }));
const Reference = lazy(async () => ({ default: (await import('./pages/reference.tsx')).Reference }));

interface Page {
  readonly path: string;
  readonly title: string;
  readonly View: ComponentType;
  readonly access: 'operator' | 'user' | 'anybody';
  /** Pages whose service does not run are omitted. */
  readonly isThere: (info: ConsoleInfo) => boolean;
}

const pages: readonly Page[] = [
  { path: '/', title: 'Overview', View: Overview, access: 'operator', isThere: () => true },
  {
    path: '/studio/:threadId?',
    title: 'Studio',
    View: Studio,
    access: 'user',
    isThere: ({ addresses }) => addresses.agent !== undefined,
  },
  { path: '/library/:assetId?', title: 'Library', View: Library, access: 'user', isThere: () => true },
  { path: '/memory', title: 'Memory', View: Memory, access: 'operator', isThere: ({ hasMemory }) => hasMemory },
  { path: '/mail', title: 'Mail', View: Mail, access: 'operator', isThere: ({ hasOutbox }) => hasOutbox },
  {
    path: '/webhooks',
    title: 'Webhooks',
    View: Webhooks,
    access: 'operator',
    isThere: ({ hasWebhooks }) => hasWebhooks,
  },
  { path: '/content', title: 'Content', View: Content, access: 'anybody', isThere: () => true },
  { path: '/api-reference', title: 'API', View: Reference, access: 'anybody', isThere: () => true },
];

const addressOf = ({ path }: Page) => path.replace(/\/:.*$/, '');

export function App() {
  const [path] = useLocation();
  const { data } = useConsole();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const present = data === undefined ? [] : pages.filter(({ isThere }) => isThere(data));
  const current = pages.find(
    (page) => path === addressOf(page) || (page.path !== '/' && path.startsWith(`${addressOf(page)}/`)),
  );
  const title = current?.title ?? 'Atelier';
  useEffect(() => {
    document.title = `${title} · Atelier`;
    // Keyboard and screen reader users start at the new page, not after it.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title]);
  useEffect(() => {
    // On a phone the list of pages is wider than the window.
    if (data !== undefined && title !== '')
      document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [title, data]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="shell">
        <Link href="/" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" /> Atelier
        </Link>
        <nav aria-label="Pages">
          {present.map((page) => (
            <Link key={page.path} href={addressOf(page)} aria-current={page === current ? 'page' : undefined}>
              {page.title}
            </Link>
          ))}
        </nav>
        <div className="foot">
          <EndSession />
          {data && <span className="quiet">Version {data.version}</span>}
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {pages.map((page) => (
              <Route key={page.path} path={page.path}>
                <Guarded page={page} />
              </Route>
            ))}
            <Route>
              <Redirect to="/" replace />
            </Route>
          </Switch>
        </Suspense>
      </main>
    </>
  );
}

function Guarded({ page: { access, title, View } }: { readonly page: Page }) {
  if (access === 'anybody') return <View />;
  const Guard = access === 'operator' ? OperatorOnly : UserOnly;
  return (
    <Guard title={title}>
      <View />
    </Guard>
  );
}
