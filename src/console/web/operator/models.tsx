/** Models, plans and prices in effect, and what was used and spent. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConfiguredModels, Spenders, UsageTotals } from '#agent/operatorapi.ts';
import { callJson } from '../calls.ts';
import { countOf } from '../parts/figures.tsx';
import { Empty, Pending } from '../parts/states.tsx';
import { type Bar, Bars } from './bars.tsx';
import { compactOf } from './units.ts';
import './operator.css';

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const ranges = [7, 30, 90] as const;

export function Models() {
  return (
    <div className="operator">
      <header className="page">
        <h1>Models and costs</h1>
      </header>
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
  const { data, error, refetch } = useQuery({
    queryKey: ['usage totals', from, to],
    queryFn: () => callJson<UsageTotals>(`/api/usage/totals?from=${from}&to=${to}`),
    placeholderData: (previous) => previous,
    refetchInterval: 60_000,
  });
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
          <div className="card three">
            <Bars title="Runs" bars={byDay(rows, from, days, ({ runs }) => runs)} show={compactOf} />
            <Bars
              title="Tokens"
              bars={byDay(rows, from, days, ({ inputTokens, outputTokens }) => inputTokens + outputTokens)}
              show={compactOf}
            />
            <Bars title="Credits" bars={byDay(rows, from, days, ({ credits }) => credits)} show={compactOf} />
          </div>
          <div className="split">
            <Sums title="By model" rows={rows} nameOf={({ model }) => model} />
            <Sums title="By plan" rows={rows} nameOf={({ plan }) => plan} />
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
] as const;

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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard */}
      <section className="scroll" aria-label={`Sums ${title.toLowerCase()}`} tabIndex={0}>
        <table>
          <Head first={title === 'By model' ? 'Model' : 'Plan'} />
          <tbody>
            {sorted.map((name) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {columns.map(([column, numberOf]) => (
                  <td key={column}>{compactOf(sumOf(name, numberOf))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Head({ first }: { readonly first: string }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        {columns.map(([column]) => (
          <th key={column} scope="col">
            {column}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function ByDay({ rows }: { readonly rows: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Each day, model and plan</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls needs the keyboard
        <section className="scroll" aria-label="Each day, model and plan" tabIndex={0}>
          <table>
            <Head first="Day, model, plan" />
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.day} ${row.model} ${row.plan}`}>
                  <th scope="row">
                    {row.day}, {row.model}, {row.plan}
                  </th>
                  {columns.map(([column, numberOf]) => (
                    <td key={column}>{countOf(numberOf(row))}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}

function TopUsers() {
  const [month, setMonth] = useState(dayOf(Date.now()).slice(0, 7));
  const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
  const { data, error, refetch } = useQuery({
    queryKey: ['spenders', month],
    queryFn: () => callJson<Spenders>(`/api/usage/users?month=${month}`),
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
        <table>
          <thead>
            <tr>
              <th scope="col">User</th>
              <th scope="col">Runs</th>
              <th scope="col">Credits</th>
            </tr>
          </thead>
          <tbody>
            {data.users.map(({ userId, runs, credits }) => (
              <tr key={userId}>
                <th scope="row">
                  <a href={`/operator/people/${userId}`}>
                    <code>{userId}</code>
                  </a>
                </th>
                <td>{countOf(runs)}</td>
                <td>{countOf(credits)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Configured() {
  const { data, error, refetch } = useQuery({
    queryKey: ['models'],
    queryFn: () => callJson<ConfiguredModels>('/api/models'),
  });
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
                  {plans === null ? 'All plans' : plans.join(', ')} · {compactOf(contextTokens)} tokens of context
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
          <dl className="pairs">
            <div>
              <dt>An image</dt>
              <dd>{data.prices.image} credits</dd>
            </div>
            <div>
              <dt>A video</dt>
              <dd>{data.prices.video} credits</dd>
            </div>
            <div>
              <dt>Plans with videos</dt>
              <dd>{data.plans.flatMap(({ plan, hasVideo }) => (hasVideo ? [plan] : [])).join(', ')}</dd>
            </div>
            <div>
              <dt>Plans without videos</dt>
              <dd>{data.plans.flatMap(({ plan, hasVideo }) => (hasVideo ? [] : [plan])).join(', ')}</dd>
            </div>
          </dl>
        </>
      )}
    </section>
  );
}
