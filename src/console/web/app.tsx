import { X } from 'lucide-react';
import { Toast } from 'radix-ui';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { createPortal } from 'react-dom';
import { Link, Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import type { ConsoleInfo } from '../api.ts';
import { operatorPages, userPages } from './areas.ts';
import { useLibraryDialog } from './library/dialogs.ts';
import { AccountSignIn } from './operator/accountsignin.tsx';
import { OperatorOnly, useConsole } from './operator.tsx';
import { IconButton } from './parts/iconbutton.tsx';
import { Failure, PageHead, SignInContext } from './parts/states.tsx';
import { OperatorAccount, UserAccount } from './shell/account.tsx';
import { Frame } from './shell/frame.tsx';
import { Landing, SignInAgain } from './shell/landing.tsx';
import { useTopDialog } from './shell/modal.ts';
import { take, undo, useNotices } from './shell/notices.ts';
import { Overlays } from './shell/overlays.tsx';
import { findPage, linkOf, type Page } from './shell/page.ts';
import { UserOnly } from './user.tsx';

export function App() {
  return (
    <>
      <Areas />
      <Overlays />
      <Toasts />
    </>
  );
}

function Areas() {
  const [path] = useLocation();
  const { data: info, error, refetch } = useConsole();
  if (info === undefined)
    return (
      error && (
        <Alone>
          <Failure error={error} retry={refetch} />
        </Alone>
      )
    );
  const wanted = findPage(userPages, path);
  if (path === '/operator' || path.startsWith('/operator/')) return <OperatorArea info={info} />;
  return (
    <UserOnly
      signedOut={
        path === '/' || wanted ? (
          <Landing wanted={wanted?.title} />
        ) : (
          <Alone>
            <NotFound path={path} home="/" />
          </Alone>
        )
      }
    >
      <SignInContext value={<SignInAgain />}>
        <UserArea info={info} />
      </SignInContext>
    </UserOnly>
  );
}

const Alone = ({ children }: { readonly children: ReactNode }) => (
  <main id="main" className="alone">
    {children}
  </main>
);

const usePages = (pages: readonly Page[], info: ConsoleInfo) =>
  useMemo(
    () =>
      pages.filter(
        ({ isPublic, isAvailable }) =>
          (isAvailable === undefined || isAvailable(info)) && (pages !== operatorPages || info.isOperator || isPublic),
      ),
    [pages, info],
  );

const LibraryDialogs = lazy(async () => ({ default: (await import('./library/librarydialogs.tsx')).LibraryDialogs }));
const UploadPanel = lazy(async () => ({ default: (await import('./library/uploadpanel.tsx')).UploadPanel }));
const DeskSearch = lazy(async () => ({ default: (await import('./operator/finding.tsx')).DeskSearch }));
const UserEvents = lazy(async () => ({ default: (await import('./studio/events.ts')).UserEvents }));

function UserArea({ info }: { readonly info: ConsoleInfo }) {
  const [path] = useLocation();
  const pages = usePages(userPages, info);
  const dialog = useLibraryDialog();
  // An album is shown by the library.
  const isAlbum = /[?&]?\b(album|addTo)=/.test(useSearch()) && path === '/library';
  const home = pages[0] === undefined ? '/' : linkOf(pages[0]);
  return (
    <Frame
      name=""
      home={home}
      pages={pages}
      current={findPage(pages, isAlbum ? '/albums' : path)}
      foot={<UserAccount />}
    >
      <Switch>
        {pages.map(({ path: pattern, View }) => (
          <Route key={pattern} path={pattern} component={View} />
        ))}
        <Route path="/">
          <Redirect to={home} replace />
        </Route>
        <Route>
          <NotFound path={path} home={home} />
        </Route>
      </Switch>
      <Suspense>
        {info.addresses.agent !== undefined && <UserEvents />}
        <UploadPanel />
        {dialog && <LibraryDialogs dialog={dialog} />}
      </Suspense>
    </Frame>
  );
}

function OperatorArea({ info }: { readonly info: ConsoleInfo }) {
  const [path] = useLocation();
  const pages = usePages(operatorPages, info);
  const current = findPage(operatorPages, path);
  return (
    <Frame name="Operators" home="/operator" pages={pages} current={current} foot={<OperatorAccount />}>
      {current === undefined ? (
        <NotFound path={path} home="/operator" />
      ) : current.isPublic ? (
        <current.View />
      ) : (
        <OperatorOnly otherWay={<AccountSignIn />}>
          <Route path={current.path} component={current.View} />
        </OperatorOnly>
      )}
      <Suspense>{info.isOperator && <DeskSearch />}</Suspense>
    </Frame>
  );
}

/** `home`: the start page of the area. */
function NotFound({ path, home }: { readonly path: string; readonly home: string }) {
  return (
    <>
      <PageHead title="Page not found">
        There is no page at <code>{path}</code>.
      </PageHead>
      <p>
        <Link className="button" href={home}>
          Go to the start page
        </Link>
      </p>
    </>
  );
}

const shownMs = 5000;
const undoableMs = 8000;

/** F8 moves the focus to the notices. Time stops while one has the focus or the pointer. */
function Toasts() {
  const notices = useNotices();
  // A dialog covers the page and holds the focus, so the notices have to be in it.
  const dialog = useTopDialog();
  const viewport = <Toast.Viewport className="toasts" label="Notices ({hotkey})" />;
  return (
    <Toast.Provider swipeDirection="down">
      {notices.map(({ id, text, tone, undo: isUndoable, stays }) => (
        <Toast.Root
          key={id}
          className={`toast ${tone}`}
          type={tone === 'bad' ? 'foreground' : 'background'}
          duration={stays ? Number.POSITIVE_INFINITY : isUndoable ? undoableMs : shownMs}
          onOpenChange={(isOpen) => {
            if (!isOpen) take(id);
          }}
        >
          {/* Radix announces notices in the page, which a dialog hides from assistive technology. */}
          <Toast.Description role={dialog && 'status'}>{text}</Toast.Description>
          {isUndoable && (
            <Toast.Action altText="Undo" asChild>
              <button type="button" className="plain strong" onClick={() => undo(id)}>
                Undo
              </button>
            </Toast.Action>
          )}
          <Toast.Close asChild>
            <IconButton label="Dismiss" Icon={X} />
          </Toast.Close>
        </Toast.Root>
      ))}
      {dialog === undefined ? viewport : createPortal(viewport, dialog)}
    </Toast.Provider>
  );
}
