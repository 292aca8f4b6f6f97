/** Tables, pairs of facts, and lists of short entries. */
import type { Key, ReactNode } from 'react';
import { When } from './figures.tsx';

interface TableProps {
  readonly head: readonly string[];
  readonly rows: readonly { readonly key: Key; readonly cells: readonly ReactNode[] }[];
  readonly label?: string;
}

/** The first cell of each row is its head. A wide table scrolls in a region with the name `label`. */
export function Table({ head, rows, label }: TableProps) {
  const table = (
    <table>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells: [first, ...rest] }) => (
          <tr key={key}>
            <th scope="row">{first}</th>
            {rest.map((cell, at) => (
              <td key={head[at + 1]} data-label={head[at + 1]}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard
    <section className="scroll" aria-label={label} tabIndex={0}>
      {table}
    </section>
  );
}

interface PairsProps {
  /** The values, by name. */
  readonly of: Readonly<Record<string, ReactNode>>;
  readonly className?: string;
}

export function Pairs({ of: pairs, className = 'pairs' }: PairsProps) {
  return (
    <dl className={className}>
      {Object.entries(pairs).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export const Lines = ({ children }: { readonly children: ReactNode }) => (
  <ul className="lines desk-lines">{children}</ul>
);

type LineProps = { readonly name: ReactNode; readonly note?: ReactNode; readonly at?: string };

export function Line({ name, note, at }: LineProps) {
  return (
    <li>
      <div className="desk-line">
        <span className="desk-name">{name}</span>
        {at !== undefined && (
          <span className="quiet desk-figure">
            <When at={at} />
          </span>
        )}
      </div>
      {note !== undefined && <p className="quiet">{note}</p>}
    </li>
  );
}
