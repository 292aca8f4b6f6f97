/** Models, plans and prices in effect, and what was used and spent. */
import './operator.css';
import { type PointerEvent, useState } from 'react';
import type { ConfiguredModels, Spenders, UsageTotals } from '#agent/operatorapi.ts';
import { countOf } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Pending } from '../parts/states.tsx';
import { Pairs, Table } from '../parts/tables.tsx';
import { Budgets } from './budgets.tsx';
import { PersonLink } from './personlink.tsx';
import { planName } from './personview.ts';
import { compactOf, moneyOf } from './units.ts';

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const ranges = [7, 30, 90] as const;

export function Models() {
  return (
    <div className="operator">
      <header className="page">
        <h1>Models and costs</h1>
      </header>
      <Budgets />
      <Usage />
      <div className="split">
        <TopUsers />
        <Configured />
      </div>
    </div>
  );
}

function Usage() {
  const [days, setDays] = useState<(typeof ranges)[number]>(30);
  const to = dayOf(Date.now());
  const from = dayOf(Date.now() - (days - 1) * dayMs);
  const { data, error, refetch } = useRead<UsageTotals>(
    ['usage totals', from, to],
    `/api/usage/totals?from=${from}&to=${to}`,
    { placeholderData: (previous) => previous, refetchInterval: 60_000 },
  );
  const rows = data?.days ?? [];
  return (
    <section aria-labelledby="usage">
      <div className="row">
        <h2 id="usage">Usage</h2>
        <fieldset className="segments" aria-label="Days">
          {ranges.map((one) => (
            <button key={one} type="button" aria-pressed={one === days} onClick={() => setDays(one)}>
              {one} days
            </button>
          ))}
        </fieldset>
      </div>
      {data === undefined && <Pending error={error} retry={refetch} what="Reading the usage" />}
      {data !== undefined && rows.length === 0 && <Empty title="No run ended on these days." />}
      {rows.length > 0 && (
        <>
          <div className="card three four">
            <Bars title="Runs" bars={byDay(rows, from, days, ({ runs }) => runs)} show={compactOf} />
            <Bars
              title="Tokens"
              bars={byDay(rows, from, days, ({ inputTokens, outputTokens }) => inputTokens + outputTokens)}
              show={compactOf}
            />
            <Bars title="Credits" bars={byDay(rows, from, days, ({ credits }) => credits)} show={compactOf} />
            <Bars title="Cost" bars={byDay(rows, from, days, ({ costUsd }) => costUsd)} show={moneyOf} />
          </div>
          <div className="split">
            <Sums title="By model" rows={rows} nameOf={({ model }) => model} />
            <Sums title="By plan" rows={rows} nameOf={({ plan }) => planName(plan)} />
          </div>
          <ByDay rows={rows} />
        </>
      )}
    </section>
  );
}

type Row = UsageTotals['days'][number];

function byDay(rows: readonly Row[], from: string, days: number, numberOf: (row: Row) => number): readonly Bar[] {
  return Array.from({ length: days }, (_, at) => {
    const day = dayOf(Date.parse(from) + at * dayMs);
    return { label: day, value: rows.reduce((sum, row) => (row.day === day ? sum + numberOf(row) : sum), 0) };
  });
}

const columns = [
  ['Runs', ({ runs }: Row) => runs],
  ['Tokens in', ({ inputTokens }: Row) => inputTokens],
  ['Tokens out', ({ outputTokens }: Row) => outputTokens],
  ['Images', ({ images }: Row) => images],
  ['Videos', ({ videos }: Row) => videos],
  ['Credits', ({ credits }: Row) => credits],
  ['Cost', ({ costUsd }: Row) => costUsd],
] as const;

const show = (name: string, value: number, spell = compactOf) => (name === 'Cost' ? moneyOf(value) : spell(value));

function Sums({
  title,
  rows,
  nameOf,
}: {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly nameOf: (row: Row) => string;
}) {
  const names = [...new Set(rows.map(nameOf))];
  const sumOf = (name: string, numberOf: (row: Row) => number) =>
    rows.reduce((sum, row) => (nameOf(row) === name ? sum + numberOf(row) : sum), 0);
  const [, creditsOf] = columns[5];
  const sorted = names.toSorted((one, other) => sumOf(other, creditsOf) - sumOf(one, creditsOf));
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <Table
        label={`Sums ${title.toLowerCase()}`}
        head={headOf(title === 'By model' ? 'Model' : 'Plan')}
        rows={sorted.map((name) => ({
          key: name,
          cells: [name, ...columns.map(([column, numberOf]) => show(column, sumOf(name, numberOf)))],
        }))}
      />
    </section>
  );
}

const headOf = (first: string) => [first, ...columns.map(([name]) => name)];

function ByDay({ rows }: { readonly rows: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Each day, model and plan</summary>
      {isOpen && (
        <Table
          label="Each day, model and plan"
          head={headOf('Day, model, plan')}
          rows={rows.map((row) => ({
            key: `${row.day} ${row.model} ${row.plan}`,
            cells: [
              `${row.day}, ${row.model}, ${planName(row.plan)}`,
              ...columns.map(([column, numberOf]) => show(column, numberOf(row), countOf)),
            ],
          }))}
        />
      )}
    </details>
  );
}

function TopUsers() {
  const [month, setMonth] = useState(dayOf(Date.now()).slice(0, 7));
  const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
  const { data, error, refetch } = useRead<Spenders>(['spenders', month], `/api/usage/users?month=${month}`, {
    placeholderData: (previous) => previous,
    enabled: isMonth,
  });
  return (
    <section aria-labelledby="users">
      <div className="row">
        <h2 id="users">Users by credits</h2>
        <label className="field inline">
          Month
          <input type="month" value={month} onChange={({ target }) => setMonth(target.value)} />
        </label>
      </div>
      {data === undefined && <Pending error={error} retry={refetch} />}
      {data?.users.length === 0 && <Empty title="No user spent credits this month." />}
      {data !== undefined && data.users.length > 0 && (
        <Table
          head={['User', 'Runs', 'Credits', 'Cost']}
          rows={data.users.map(({ userId, runs, credits, costUsd }) => ({
            key: userId,
            cells: [<PersonLink key={userId} id={userId} />, countOf(runs), countOf(credits), moneyOf(costUsd)],
          }))}
        />
      )}
    </section>
  );
}

function Configured() {
  const { data, error, refetch } = useRead<ConfiguredModels>(['models'], '/api/models');
  return (
    <section aria-labelledby="models">
      <h2 id="models">Models and prices</h2>
      {data === undefined ? (
        <Pending error={error} retry={refetch} />
      ) : (
        <>
          <ul className="lines">
            {data.models.map(({ id, label, credits, plans, contextTokens, fallback, vision, tools, ...model }) => (
              <li key={id}>
                <div className="row">
                  <span className="strong">{label}</span>
                  <span>
                    {countOf(credits)} {credits === 1 ? 'credit' : 'credits'} per run
                  </span>
                </div>
                {label !== id && <code>{id}</code>}
                <p className="quiet">
                  {plans === null ? 'All plans' : plans.map(planName).join('; ')} · {compactOf(contextTokens)} tokens of
                  context
                  {fallback !== null && ` · falls back to ${fallback}`}
                </p>
                <p className="tags">
                  {model.default && <span className="tag">default</span>}
                  {model.simulated && <span className="tag">simulated</span>}
                  {vision && <span className="tag">accepts images</span>}
                  {tools && <span className="tag">uses tools</span>}
                </p>
              </li>
            ))}
          </ul>
          <Pairs
            of={{
              'An image': `${data.prices.image} credits`,
              'A video': `${data.prices.video} credits`,
              'Plans with videos': plansOf(data, true),
              'Plans without videos': plansOf(data, false),
            }}
          />
        </>
      )}
    </section>
  );
}

const plansOf = ({ plans }: ConfiguredModels, withVideos: boolean) =>
  plans.flatMap(({ plan, hasVideo }) => (hasVideo === withVideos ? [planName(plan)] : [])).join(' · ');

// A bar for each day. Assistive technology reads the table below the graphs instead.

interface Bar {
  readonly label: string;
  readonly value: number;
}

const height = 72;
const step = 10;

function Bars({
  title,
  bars,
  show,
}: {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly show: (value: number) => string;
}) {
  const [pointed, setPointed] = useState<number>();
  const largest = Math.max(1, ...bars.map(({ value }) => value));
  const bar = pointed === undefined ? undefined : bars[pointed];
  const point = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    setPointed(Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length))));
  };
  return (
    <figure className="graph">
      <figcaption>
        <span className="quiet">{title}</span>
        <span className="now">
          {bar && <span className="quiet">{bar.label} </span>}
          <span className="of accent">{show(bar?.value ?? bars.reduce((sum, { value }) => sum + value, 0))}</span>
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${bars.length * step} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={point}
        onPointerLeave={() => setPointed(undefined)}
      >
        <line className="base" x1="0" x2={bars.length * step} y1={height - 1} y2={height - 1} />
        {bars.map(({ label, value }, index) => {
          const tall = value === 0 ? 0 : Math.max(2, (value / largest) * (height - 4));
          return (
            <rect
              key={label}
              className={index === pointed ? 'pointed' : undefined}
              x={index * step + 1}
              y={height - 1 - tall}
              width={step - 2}
              height={tall}
            />
          );
        })}
      </svg>
    </figure>
  );
}
