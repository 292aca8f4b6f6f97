/** Small graphs over time. Assistive technology reads the table of the same numbers instead (`Numbers`). */
import { type PointerEvent, type ReactNode, useState } from 'react';
import { Table } from '../parts/tables.tsx';
import { clockOf, dayNameOf, shortDayOf } from './units.ts';

type Values = readonly (number | null)[];
export type Line = readonly [name: string, tone: 'accent' | 'quiet' | 'bad', values: Values];

const width = 240;
const height = 56;

interface GraphProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly startsAt: readonly string[];
  /** Such as 12 → `12 ms`. */
  readonly show: (value: number) => ReactNode;
  /** Each step is a day with a bar, and the graph is named by the sum. */
  readonly hasBars?: boolean;
}

export function Graph({ title, lines, startsAt, show, hasBars = false }: GraphProps) {
  const [pointed, setPointed] = useState<number>();
  const largest = Math.max(0, ...lines.flatMap(([, , values]) => values.map((value) => value ?? 0)));
  const point = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const { left, width: shown } = currentTarget.getBoundingClientRect();
    const step = Math.floor(((clientX - left) / shown) * startsAt.length);
    setPointed(Math.min(startsAt.length - 1, Math.max(0, step)));
  };
  const [first, last] = [startsAt[0], startsAt.at(-1)];
  const at = pointed === undefined ? undefined : startsAt[pointed];
  const [nameOf, axisNameOf, wholeOf] = hasBars ? [dayNameOf, shortDayOf, sumOf] : [clockOf, clockOf, nowOf];
  const x = hasBars ? (((pointed ?? 0) + 0.5) * width) / startsAt.length : xOf(pointed ?? 0, startsAt.length);
  return (
    <figure className="graph">
      <figcaption>
        <span className="quiet">{title}</span>
        <span className="now">
          {at !== undefined && <span className="quiet">{nameOf(at)} </span>}
          {lines.map(([name, tone, values]) => {
            const value = pointed === undefined ? wholeOf(values) : values[pointed];
            return (
              <span key={name} className={`of ${tone}`}>
                {lines.length > 1 && `${name} `}
                {value === null || value === undefined ? '–' : show(value)}
              </span>
            );
          })}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        <line className="base" x1="0" x2={width} y1={height - 1} y2={height - 1} />
        {lines.map(([name, tone, values]) => (
          <path
            key={name}
            className={hasBars ? 'bars' : tone}
            d={hasBars ? barsOf(values, largest) : pathOf(values, largest)}
          />
        ))}
        {pointed !== undefined && <line className="pointed" x1={x} x2={x} y1="0" y2={height} />}
      </svg>
      <p className="axis" aria-hidden="true">
        <span>{first && axisNameOf(first)}</span>
        {lines.some(([, , values]) => values.some((value) => value !== null)) && <span>highest {show(largest)}</span>}
        <span>{last && axisNameOf(last)}</span>
      </p>
    </figure>
  );
}

/** The value of the last two steps, as the newest may not be complete. `null`: there was nothing to measure. */
export const nowOf = (all: Values) => all.slice(-2).findLast((value) => value !== null) ?? null;
const sumOf = (values: Values) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
const xOf = (step: number, steps: number) => (steps < 2 ? 0 : (step / (steps - 1)) * width);

const top = 3;
const yOf = (value: number, largest: number) =>
  height - 1 - (largest === 0 ? 0 : (value / largest) * (height - 1 - top));

/** The line connects the steps that have a value. A single value is a dash. */
function pathOf(values: Values, largest: number): string {
  const places = values.flatMap((value, step) =>
    value === null ? [] : [`${xOf(step, values.length).toFixed(1)} ${yOf(value, largest).toFixed(1)}`],
  );
  return places.length === 0 ? '' : `M${places.join('L')}${places.length === 1 ? 'm-3 0h6' : ''}`;
}

/** A line beside its newest value, in a row of a table. */
export const Sparkline = ({ values, tone }: { readonly values: Values; readonly tone: Line[1] }) => (
  <svg className="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
    <path className={tone} d={pathOf(values, Math.max(0, ...values.map((value) => value ?? 0)))} />
  </svg>
);

function barsOf(values: Values, largest: number): string {
  const step = width / values.length;
  return values
    .map((value, at) =>
      value ? `M${(at + 0.1) * step} ${height}V${yOf(value, largest)}h${0.8 * step}V${height}z` : '',
    )
    .join('');
}

type NumbersProps = Pick<GraphProps, 'lines' | 'startsAt'> & {
  label: string;
  show(value: number, name: string): string;
};

/** The same numbers as a table, newest first. */
export function Numbers({ label, lines, startsAt, show }: NumbersProps) {
  const [isOpen, setOpen] = useState(false);
  const steps = startsAt
    .map((at, step) => ({ at, values: lines.map(([, , values]) => values[step] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .toReversed();
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary aria-label={`Numbers: ${label}`}>Numbers</summary>
      {isOpen && (
        <Table
          label={label}
          head={['From', ...lines.map(([name]) => name)]}
          rows={steps.map(({ at, values }) => ({
            key: at,
            cells: [
              clockOf(at),
              ...values.map((value, index) => (value === null ? '–' : show(value, lines[index]?.[0] ?? ''))),
            ],
          }))}
        />
      )}
    </details>
  );
}
