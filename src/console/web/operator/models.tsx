/** Models, plans and prices in effect, and what was used and spent. */
import './operator.css';
import { Fragment, type PointerEvent, type ReactNode, useState } from 'react';
import type { Plan } from '#accounts/api.ts';
import type { ConfiguredModels, Spenders, UsageTotals } from '#agent/operatorapi.ts';
import { Choices } from '../parts/choices.tsx';
import { countOf, planName } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, PageHead, Pending } from '../parts/states.tsx';
import { Table } from '../parts/tables.tsx';
import { Budgets } from './budgets.tsx';
import { PersonLink, useCosts, useModelNames, useModels } from './names.tsx';
import { allPlans } from './personview.ts';
import { compactOf, dayNameOf, priceOf } from './units.ts';

const dayMs = 86_400_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const ranges = [7, 30, 90] as const;

export function Models() {
  return (
    <div className="operator">
      <PageHead title="Models and costs">Costs are what you pay to providers. Credits are what users pay.</PageHead>
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
  const modelNameOf = useModelNames();
  const costOf = useCosts();
  return (
    <section aria-labelledby="usage">
      <div className="row">
        <h2 id="usage">Usage</h2>
        <Choices label="Days" of={ranges.map((one) => [one, `${one} days`])} chosen={days} choose={setDays} />
      </div>
      {data === undefined && <Pending error={error} retry={refetch} what="Reading the usage" />}
      {data !== undefined && rows.length === 0 && (
        <Empty title="No run ended on these days.">
          <p>Choose more days. The page Runs lists runs in progress.</p>
        </Empty>
      )}
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
            <Bars title="Cost" bars={byDay(rows, from, days, ({ costUsd }) => costUsd)} show={costOf} />
          </div>
          <p className="quiet">
            A dash is a cost that is not counted, because no price is set: <code>costUsd</code> in{' '}
            <code>MODELS_FILE</code>.
          </p>
          <div className="split">
            <Sums title="By model" rows={rows} nameOf={({ model }) => modelNameOf(model)} />
            <Sums title="By plan" rows={rows} nameOf={({ plan }) => planName(plan)} />
          </div>
          <ByDay rows={rows} modelNameOf={modelNameOf} />
        </>
      )}
    </section>
  );
}

type Row = UsageTotals['days'][number];

function byDay(rows: readonly Row[], from: string, days: number, numberOf: (row: Row) => number): readonly Bar[] {
  return Array.from({ length: days }, (_, at) => {
    const day = dayOf(Date.parse(from) + at * dayMs);
    return {
      label: dayNameOf(day),
      value: rows.reduce((sum, row) => (row.day === day ? sum + numberOf(row) : sum), 0),
    };
  });
}

/** What matters most comes first, because a phone shows the first columns. */
const columns = [
  ['Cost', ({ costUsd }: Row) => costUsd],
  ['Credits', ({ credits }: Row) => credits],
  ['Runs', ({ runs }: Row) => runs],
  ['Images', ({ images }: Row) => images],
  ['Videos', ({ videos }: Row) => videos],
  ['Tokens in', ({ inputTokens }: Row) => inputTokens],
  ['Tokens out', ({ outputTokens }: Row) => outputTokens],
] as const;

interface SumsProps {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly nameOf: (row: Row) => string;
}

function Sums({ title, rows, nameOf }: SumsProps) {
  const names = [...new Set(rows.map(nameOf))];
  const sumOf = (name: string, numberOf: (row: Row) => number) =>
    rows.reduce((sum, row) => (nameOf(row) === name ? sum + numberOf(row) : sum), 0);
  const costOf = useCosts();
  const isByModel = title === 'By model';
  const modelOf = (name: string) => (isByModel ? rows.find((row) => nameOf(row) === name)?.model : undefined);
  const sorted = names.toSorted(
    (one, other) => sumOf(other, ({ credits }) => credits) - sumOf(one, ({ credits }) => credits),
  );
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <Table
        label={`Sums ${title.toLowerCase()}`}
        head={headOf(isByModel ? 'Model' : 'Plan')}
        rows={sorted.map((name) => ({
          key: name,
          cells: [
            name,
            ...columns.map(([column, numberOf]) => {
              const sum = sumOf(name, numberOf);
              return column === 'Cost' ? costOf(sum, modelOf(name)) : compactOf(sum);
            }),
          ],
        }))}
      />
    </section>
  );
}

const headOf = (first: string) => [first, ...columns.map(([name]) => name)];

function ByDay({ rows, modelNameOf }: { readonly rows: readonly Row[]; readonly modelNameOf: (id: string) => string }) {
  const [isOpen, setOpen] = useState(false);
  const costOf = useCosts();
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
              `${dayNameOf(row.day)}, ${modelNameOf(row.model)}, ${planName(row.plan)}`,
              ...columns.map(([column, numberOf]) =>
                column === 'Cost' ? costOf(row.costUsd, row.model) : countOf(numberOf(row)),
              ),
            ],
          }))}
        />
      )}
    </details>
  );
}

function TopUsers() {
  const [month, setMonth] = useState(dayOf(Date.now()).slice(0, 7));
  const costOf = useCosts();
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
          label="Credits and costs of users"
          head={['User', 'Cost', 'Credits', 'Runs']}
          rows={data.users.map(({ userId, runs, credits, costUsd }) => ({
            key: userId,
            cells: [<PersonLink key={userId} id={userId} />, costOf(costUsd), countOf(credits), countOf(runs)],
          }))}
        />
      )}
    </section>
  );
}

function Configured() {
  const { data, error, refetch } = useModels();
  return (
    <section aria-labelledby="models">
      <h2 id="models">Models and prices</h2>
      {data === undefined ? (
        <Pending error={error} retry={refetch} />
      ) : (
        <>
          <h3>Conversations</h3>
          <ul className="lines" aria-label="Models of conversations">
            {data.models.map(({ contextTokens, fallback, costUsd, vision, tools, simulated, ...model }) => (
              <Model
                key={model.id}
                model={model}
                price={`${creditsOf(model.credits)} for a run`}
                cost={
                  costUsd &&
                  `Costs you ${priceOf(costUsd.input)} for a million tokens in, ${priceOf(costUsd.output)} for a million out`
                }
                facts={[
                  plansOf(model.plans),
                  `${compactOf(contextTokens)} tokens of context`,
                  ...fallbackOf(data, fallback),
                ]}
                tags={[simulated && 'simulated', vision && 'accepts images', tools && 'uses tools']}
              />
            ))}
          </ul>
          {(['image', 'video'] as const).map((kind) => (
            <Fragment key={kind}>
              <h3>{kind === 'image' ? 'Images' : 'Videos'}</h3>
              <ul className="lines" aria-label={`Models of ${kind}s`}>
                {data.media
                  .filter((model) => model.kind === kind)
                  .map(({ costUsd, fallback, ...model }) => (
                    <Model
                      key={model.id}
                      model={model}
                      price={`${creditsOf(model.credits)} for ${kind === 'image' ? 'an image' : 'a video'}`}
                      cost={costUsd === null ? null : `Costs you ${priceOf(costUsd)} each`}
                      facts={[plansOf(model.plans), ...fallbackOf(data, fallback)]}
                      tags={[]}
                    />
                  ))}
              </ul>
            </Fragment>
          ))}
        </>
      )}
    </section>
  );
}

interface ModelProps {
  readonly model: { readonly id: string; readonly label: string; readonly default: boolean };
  readonly price: string;
  /** `null`: not configured. */
  readonly cost: string | null;
  readonly facts: readonly string[];
  readonly tags: readonly (string | false)[];
}

function Model({ model: { id, label, default: isDefault }, price, cost, facts, tags }: ModelProps) {
  const shown = [isDefault && 'default', ...tags].filter((tag) => tag !== false);
  return (
    <li>
      <div className="row">
        <span className="strong">{label}</span>
        <span>{price}</span>
      </div>
      <p className="quiet">
        {facts.join(' · ')}
        {label !== id && (
          <>
            {' · '}
            <code className="wrapped">{id}</code>
          </>
        )}
      </p>
      <p className="quiet">
        {cost ?? (
          <>
            Its cost is not counted. Set <code>costUsd</code> in <code>MODELS_FILE</code>.
          </>
        )}
      </p>
      {shown.length > 0 && (
        <p className="tags">
          {shown.map((tag) => (
            <span key={tag} className="tag">
              {tag}
            </span>
          ))}
        </p>
      )}
    </li>
  );
}

const creditsOf = (credits: number) => (credits === 1 ? '1 credit' : `${countOf(credits)} credits`);
const fallbackOf = ({ models, media }: ConfiguredModels, fallback: string | null) =>
  fallback === null
    ? []
    : [`falls back to ${[...models, ...media].find(({ id }) => id === fallback)?.label ?? fallback}`];

/** `null`: all of them. */
function plansOf(plans: readonly Plan[] | null): string {
  if (plans === null || allPlans.every((plan) => plans.includes(plan))) return 'All plans';
  const missing = allPlans.filter((plan) => !plans.includes(plan));
  return missing.length < plans.length
    ? `All plans but ${missing.map(planName).join(', ')}`
    : plans.map(planName).join(' · ');
}

// A bar for each day. Assistive technology reads the table below the graphs instead.

interface Bar {
  readonly label: string;
  readonly value: number;
}

const height = 72;
const step = 10;

interface BarsProps {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly show: (value: number) => ReactNode;
}

function Bars({ title, bars, show }: BarsProps) {
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
