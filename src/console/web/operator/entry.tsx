/** An entry of a list, and its own page. */
import { ArrowLeft } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { Link } from 'wouter';
import { When } from '../parts/figures.tsx';
import { lastFilters } from '../parts/listing.tsx';
import { Loaded } from '../parts/states.tsx';

interface EntryProps {
  readonly picture?: ReactNode;
  readonly title: ReactNode;
  /** Beside the title. */
  readonly status?: ReactNode;
  readonly at?: string;
  /** At the end of the line, such as buttons. */
  readonly more?: ReactNode;
  /** Those without a text are omitted. */
  readonly facts?: readonly ReactNode[];
  readonly problem?: string | null | undefined;
  /** The title is a button. `isOpen`: the children are what it has opened. */
  readonly onOpen?: () => void;
  readonly isOpen?: boolean;
  readonly children?: ReactNode;
}

export function Entry(props: EntryProps) {
  const { picture, title, status, at, more, facts = [], problem, onOpen, isOpen, children } = props;
  const Title = onOpen ? 'button' : 'span';
  const opening = onOpen && ({ type: 'button', 'aria-expanded': isOpen, onClick: onOpen } as const);
  return (
    <div className={picture === undefined ? undefined : 'record'}>
      {picture}
      <div className="record-body">
        <div className="desk-line record-head">
          <Title className="record-title" {...opening}>
            <span className="strong">{title}</span> {status}
          </Title>
          {at !== undefined && <When at={at} />}
          {more}
        </div>
        <Facts of={facts} />
        {problem && <p className="problem">{problem}</p>}
        {children}
      </div>
    </div>
  );
}

/** What is known, on one line. Empty facts are left out. */
export function Facts({ of: facts }: { readonly of: readonly ReactNode[] }) {
  const shown = facts.filter(Boolean);
  if (shown.length === 0) return null;
  return (
    <p className="quiet record-facts">
      {shown.map((fact, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of an entry keep their places
        <span key={index}>{fact}</span>
      ))}
    </p>
  );
}

export const RunLink = ({ id }: { readonly id: string }) => (
  <Link href={`/operator/runs/${encodeURIComponent(id)}`}>The run</Link>
);

export const OrderLink = ({ id }: { readonly id: string }) => (
  <Link href={`/operator/runs?kind=generations&id=${id}`}>The order</Link>
);

interface EntryPageProps<T> extends Pick<ComponentProps<typeof Loaded<T>>, 'of' | 'children'> {
  readonly kind: string;
  readonly list: readonly [path: string, name: string];
}

/** The page of one entry. The link above it leads to the list, as it was last shown. */
export const EntryPage = <T,>({ kind, list: [path, name], ...rest }: EntryPageProps<T>) => (
  <>
    <p className="desk-back">
      <Link href={lastFilters.get(path) ?? path}>
        <ArrowLeft size={16} strokeWidth={1.75} aria-hidden="true" /> {name}
      </Link>
    </p>
    <Loaded what={`Reading the ${kind}`} entry={kind} {...rest} />
  </>
);
