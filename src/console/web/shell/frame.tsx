/** The navigation around the pages of one area: a column, and below 900 px a drawer. */
import { Menu as MenuIcon, RotateCw, Search, X } from 'lucide-react';
import {
  Component,
  createContext,
  type ReactNode,
  Suspense,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import { Link, useLocation } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { Button, IconButton } from '../parts/iconbutton.tsx';
import { useActions } from './actions.ts';
import { useIsNarrow, useIsOnline } from './browser.ts';
import { PageNotLoaded } from './lazily.ts';
import { useModal } from './modal.ts';
import { openPalette } from './overlays.tsx';
import { linkOf, type Page } from './page.ts';
import { product } from './product.ts';
import { Skeleton } from './skeleton.tsx';

interface Slots {
  readonly sidebar: HTMLElement | null;
  readonly bar: HTMLElement | null;
}
const SlotsContext = createContext<Slots>({ sidebar: null, bar: null });

/** Shows its content in the navigation, below the links of the area. */
export function InSidebar({ children }: { readonly children: ReactNode }) {
  const { sidebar } = useContext(SlotsContext);
  return sidebar && createPortal(children, sidebar);
}

/** Shows its content at the end of the bar at the top of a narrow window. A wide window has no bar. */
export function InTopBar({ children }: { readonly children: ReactNode }) {
  const { bar } = useContext(SlotsContext);
  return bar && createPortal(children, bar);
}

interface FrameProps {
  readonly name: string;
  readonly home: string;
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
  readonly foot: ReactNode;
  readonly children: ReactNode;
}

export function Frame({ name, home, pages, current, foot, children }: FrameProps) {
  const [path] = useLocation();
  const isNarrow = useIsNarrow();
  const main = useRef<HTMLElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [sidebar, setSidebar] = useState<HTMLElement | null>(null);
  const [bar, setBar] = useState<HTMLElement | null>(null);
  const slots = useMemo(() => ({ sidebar, bar }), [sidebar, bar]);
  const close = useCallback(() => setOpen(false), []);
  useTitle(current?.title ?? product, main);
  useActions(
    useMemo(
      () =>
        pages.flatMap((page) => [
          { ...page, id: page.path, group: 'Go to', perform: () => navigate(linkOf(page)) },
          {
            id: `search ${page.path}`,
            title: `Search ${page.title.toLowerCase()} for`,
            group: 'Search',
            isHidden: page.isSearched !== true,
            takesText: true,
            perform: (q: string) => navigate(`${linkOf(page)}?${new URLSearchParams({ q })}`),
          },
        ]),
      [pages],
    ),
  );
  const navigation = (
    <>
      <Navigation pages={pages} current={current} />
      <div className="slot" ref={setSidebar} />
      <div className="foot">{foot}</div>
    </>
  );
  return (
    <SlotsContext value={slots}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <div className="frame">
        {isNarrow ? (
          <header className="bar">
            <IconButton label="Menu" Icon={MenuIcon} size={20} onClick={() => setOpen(true)} />
            <span className="strong cut">{current?.title ?? product}</span>
            <span className="end" ref={setBar} />
            {name !== '' && <IconButton label="Commands" Icon={Search} size={20} onClick={openPalette} />}
            {isOpen && (
              <Drawer name={name} home={home} onClose={close}>
                {navigation}
              </Drawer>
            )}
          </header>
        ) : (
          <header className="sidebar">
            <Brand name={name} home={home}>
              <IconButton label="Commands" Icon={Search} onClick={openPalette} />
            </Brand>
            {navigation}
          </header>
        )}
        <main id="main" ref={main} tabIndex={-1}>
          <Offline />
          <Boundary place={path}>
            <Suspense fallback={<Skeleton />}>{children}</Suspense>
          </Boundary>
        </main>
      </div>
    </SlotsContext>
  );
}

function useTitle(title: string, main: { readonly current: HTMLElement | null }): void {
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · ${product}`;
    // Keyboard and screen reader users start at the new page, not after it.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [title, main]);
}

interface BrandProps {
  readonly name: string;
  readonly home: string;
  readonly children: ReactNode;
}

function Brand({ name, home, children }: BrandProps) {
  return (
    <div className="brandrow">
      <Link href={home} className="brand">
        <img src="/favicon.svg" alt="" width="24" height="24" /> {product}
        {name !== '' && <span className="quiet small">{name}</span>}
      </Link>
      {children}
    </div>
  );
}

function Navigation({ pages, current }: { readonly pages: readonly Page[]; readonly current: Page | undefined }) {
  return (
    <nav aria-label="Pages" className="pages">
      {pages.map((page) => (
        <Link key={page.path} href={linkOf(page)} aria-current={page === current ? 'page' : undefined}>
          <page.Icon size={20} strokeWidth={1.75} aria-hidden="true" />
          {page.title}
        </Link>
      ))}
    </nav>
  );
}

interface DrawerProps {
  readonly name: string;
  readonly home: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function Drawer({ name, home, onClose, children }: DrawerProps) {
  const dialog = useModal();
  useEffect(() => {
    // A choice in the drawer, a shortcut, or Back. A page that only replaces its URL leaves the drawer open.
    for (const type of ['pushState', 'popstate']) window.addEventListener(type, onClose);
    return () => {
      for (const type of ['pushState', 'popstate']) window.removeEventListener(type, onClose);
    };
  }, [onClose]);
  return (
    <dialog
      ref={dialog}
      className="drawer"
      aria-label="Menu"
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        // The backdrop.
        if (target === currentTarget) currentTarget.close();
      }}
      onKeyDown={() => undefined}
    >
      <div className="sidebar">
        <Brand name={name} home={home}>
          <IconButton label="Close the menu" Icon={X} size={20} onClick={() => dialog.current?.close()} />
        </Brand>
        {children}
      </div>
    </dialog>
  );
}

function Offline() {
  const isOnline = useIsOnline();
  return (
    <div role="status">{!isOnline && <p className="offline">You are offline. This page may be out of date.</p>}</div>
  );
}

interface Properties {
  /** A new place gives the content another chance. */
  readonly place: string;
  readonly children: ReactNode;
}

interface State {
  readonly place: string;
  readonly error: Error | undefined;
}

/** A failure of one page leaves the navigation usable. */
class Boundary extends Component<Properties, State> {
  override state: State = { place: this.props.place, error: undefined };

  static getDerivedStateFromProps({ place }: Properties, state: State): State | null {
    return place === state.place ? null : { place, error: undefined };
  }

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const isLoading = error instanceof PageNotLoaded;
    return (
      <div className="card narrow stack broken" role="alert">
        <h1>{isLoading ? 'This page could not be loaded' : 'This page stopped working'}</h1>
        <p className="quiet">
          {isLoading
            ? 'The server does not respond, or has been updated. Reload to get the current version.'
            : `Reload to continue. If it fails again, report this message: ${error.message}`}
        </p>
        <div>
          <Button Icon={RotateCw} text="Reload" className="primary" onClick={() => location.reload()} />
        </div>
      </div>
    );
  }
}
