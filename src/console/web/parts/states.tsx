import type { LucideIcon } from 'lucide-react';
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react';
import { CallFailed, isSignedOut, sessionEnded } from '../calls.ts';
import { Skeleton } from '../shell/skeleton.tsx';

export function Loading({ what = 'Loading' }: { readonly what?: string | undefined }) {
  return (
    <p className="state" role="status">
      <span className="spinner" aria-hidden="true" /> {what} …
    </p>
  );
}

/** The link to sign in again, for the pages of users. */
export const SignInContext = createContext<ReactNode>(undefined);

/** `undefined`: the error has another reason. */
function useEnded(error: Error | null): ReactNode {
  const signIn = useContext(SignInContext);
  return signIn !== undefined && isSignedOut(error) ? <SessionEnded /> : undefined;
}

/** The same words on every page, with a link that returns to the page. */
export function SessionEnded({ children }: { readonly children?: ReactNode }) {
  const signIn = useContext(SignInContext);
  return (
    <>
      <p>
        {sessionEnded} {children}
      </p>
      {signIn}
    </>
  );
}

export function Failure({ error, retry }: { readonly error: Error; readonly retry?: () => unknown }) {
  const ended = useEnded(error);
  return (
    <div className="state failure" role="alert">
      {ended ?? <p>{error.message}</p>}
      {retry && ended === undefined && (
        <button type="button" onClick={() => retry()}>
          Try again
        </button>
      )}
    </div>
  );
}

interface PendingProps {
  readonly error: Error | null;
  readonly retry: () => unknown;
  readonly what?: string;
  /** Tiles take the place of the words. */
  readonly hasTiles?: boolean | undefined;
  /** The entry that the URL names, such as `run`. Its id can be unknown, or none at all. */
  readonly entry?: string;
}

/** Shown while a query has no data: its error, or that it loads. */
export function Pending({ error, retry, what, hasTiles = false, entry }: PendingProps) {
  if (entry !== undefined && error instanceof CallFailed && [400, 404].includes(error.status))
    return (
      <Empty title={`There is no such ${entry}.`}>
        <p className="quiet">Check the id. The entry may also have been removed.</p>
      </Empty>
    );
  if (error) return <Failure error={error} retry={retry} />;
  return hasTiles ? <Skeleton label={what} lines={12} shape="tileskeleton" /> : <Loading what={what} />;
}

interface LoadedProps<T> extends Pick<PendingProps, 'what' | 'hasTiles' | 'entry'> {
  readonly of: { readonly data: T | undefined; readonly error: Error | null; readonly refetch: () => unknown };
  readonly children: (data: T) => ReactNode;
}

/** What a query has read. Before that, as `Pending`. */
export const Loaded = <T,>({ of: { data, error, refetch }, children, ...rest }: LoadedProps<T>) =>
  data === undefined ? <Pending {...rest} error={error} retry={refetch} /> : children(data);

/** Shown beside the control that failed. The other content stays. */
export function Problem({ of: error }: { readonly of: Error | null }) {
  const ended = useEnded(error);
  if (ended !== undefined)
    return (
      <div className="state failure" role="alert">
        {ended}
      </div>
    );
  return (
    error && (
      <span className="problem" role="alert">
        {error.message}
      </span>
    )
  );
}

interface EmptyProps {
  readonly title: string;
  readonly Icon?: LucideIcon;
  readonly children?: ReactNode;
}

export function Empty({ title, Icon, children }: EmptyProps) {
  return (
    <div className="state empty">
      {Icon && <Icon size={32} strokeWidth={1.25} aria-hidden="true" />}
      <p className="strong">{title}</p>
      {children}
    </div>
  );
}

interface StatusProps {
  readonly tone: 'good' | 'bad' | 'warn' | 'busy' | 'quiet';
  readonly children: ReactNode;
}

/** Not by color alone: a word has the same meaning. */
export function Status({ tone, children }: StatusProps) {
  return <span className={`status ${tone}`}>{children}</span>;
}

interface SectionProps extends Pick<ComponentProps<'section'>, 'className' | 'ref'> {
  readonly title: ReactNode;
  /** Of the heading, for links. */
  readonly id?: string;
  /** Beside the heading. */
  readonly more?: ReactNode;
  readonly children: ReactNode;
}

/** A part of a page, with its heading. */
export function Section({ title, id, more, children, ...rest }: SectionProps) {
  const ownId = useId();
  const heading = <h2 id={id ?? ownId}>{title}</h2>;
  return (
    <section aria-labelledby={id ?? ownId} {...rest}>
      {more === undefined ? (
        heading
      ) : (
        <div className="row">
          {heading}
          {more}
        </div>
      )}
      {children}
    </section>
  );
}

/** The head of a page: its title, and what the page is for. */
export const PageHead = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <header className="page">
    <h1>{title}</h1>
    {children !== undefined && <p className="quiet">{children}</p>}
  </header>
);
