/** Models, plans and prices in effect, and what was used and spent. */
import { keepPreviousData } from '@tanstack/react-query';
import { Fragment, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Plan } from '#accounts/api.ts';
import type { ConfiguredModels, Spenders, UsageTotals } from '#agent/operatorapi.ts';
import { countOf, planName } from '../parts/figures.tsx';
import { Choices, onePage, Paged, Period, useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, Loaded, PageHead, Pending, Section } from '../parts/states.tsx';
import { Table } from '../parts/tables.tsx';
import { Budgets } from './budgets.tsx';
import { Graph } from './graph.tsx';
import { ModelLink, PersonLink, runsHref, SettingLink, tokensOf, useCosts, useModels } from './names.tsx';
import { allPlans } from './personview.ts';
import { creditsOf } from './run.tsx';
import { compactOf, dayMs, dayNameOf, dayOf, moneyOf, monthNameOf, timeOf } from './units.ts';

const ranges = [7, 30, 90] as const;
/** A browser reports a year while it is typed, such as 0002. The days since then are too many to draw. */
const typed = (day: string) => (day < '2000' ? '' : day);
const firstOf = (days: number) => dayOf(Date.now() - (days - 1) * dayMs);

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
  const { of, change } = useFilters();
  // Two days in the wrong order are the same period.
  const [from = '', to = ''] = [typed(of('from')) || firstOf(30), typed(of('to')) || dayOf(Date.now())].toSorted();
  const days = Array.from({ length: (Date.parse(to) - Date.parse(from)) / dayMs + 1 }, (_, at) =>
    dayOf(Date.parse(from) + at * dayMs),
  );
  const often = { placeholderData: keepPreviousData, refetchInterval: 60_000 };
  const { data, error, refetch } = useRead<UsageTotals>('/api/usage/totals', { from, to }, often);
  const rows = data?.days ?? [];
  const costOf = useCosts();
  return (
    <Section
      title="Usage"
      more={
        <Choices
          label="Days"
          of={ranges.map((one) => [firstOf(one), `${one} days`])}
          chosen={to === dayOf(Date.now()) ? from : ''}
          choose={(first) => change({ from: first, to: '' })}
        />
      }
    >
      <div className="desk-fields desk-filters">
        <Period shown={{ from, to }} />
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
            {graphs.map(([title, numberOf, show = costOf]) => (
              <Graph
                key={title}
                title={title}
                lines={[[title, 'accent', byDay(rows, days, numberOf)]]}
                startsAt={days}
                show={show}
                hasBars
              />
            ))}
          </div>
          <p className="quiet">
            Costs are not counted where no price is set: <code>costUsd</code> in <SettingLink name="MODELS_FILE" />.
            Such a cost is a dash, and a sum with such a part is marked with ≥.
          </p>
          <Groups
            of="model"
            rows={rows}
            nameOf={(model, runs) => <ModelLink of={model} href={runsHref({ model, from, to }, runs)} />}
          />
          <p className="quiet">Images and videos of a conversation count for the model of the conversation.</p>
          {data !== undefined && data.media.length > 0 && (
            <MediaSums of={data.media} hrefOf={(model) => runsHref({ model, from, to }, 0)} />
          )}
          <Groups of="plan" rows={rows} nameOf={planName} />
          <ByDay rows={rows} />
        </>
      )}
    </Section>
  );
}

type Row = UsageTotals['days'][number];

const graphs: readonly (readonly [string, (row: Row) => number, ((value: number) => ReactNode)?])[] = [
  ['Runs', ({ runs }) => runs, compactOf],
  ['Tokens', ({ inputTokens, outputTokens }) => inputTokens + outputTokens, (sum) => tokensOf(sum, compactOf)],
  ['Credits', ({ credits }) => credits, compactOf],
  ['Cost', ({ costUsd }) => costUsd],
];

const byDay = (rows: readonly Row[], days: readonly string[], numberOf: (row: Row) => number) =>
  days.map((day) => rows.reduce((sum, row) => (row.day === day ? sum + numberOf(row) : sum), 0));

/** What matters most comes first, because a phone shows the first columns. */
const columns = [
  ['Cost', 'costUsd'],
  ['Credits', 'credits'],
  ['Runs', 'runs'],
  ['Images', 'images'],
  ['Videos', 'videos'],
  ['Tokens in', 'inputTokens'],
  ['Tokens out', 'outputTokens'],
] as const;

type Sums = Pick<Row, (typeof columns)[number][1]>;

const sumOf = (rows: readonly Row[]): Sums =>
  Object.fromEntries(columns.map(([, name]) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as Sums;

/** The cells of the columns. `model`: the one that the sums are of. */
function useCells(show: typeof countOf): (sums: Sums, model?: string) => readonly ReactNode[] {
  const costOf = useCosts();
  return (sums, model) =>
    columns.map(([, name]) => {
      if (name === 'costUsd') return costOf(sums.costUsd, model);
      return name.endsWith('Tokens') ? tokensOf(sums[name], show) : show(sums[name]);
    });
}

interface GroupsProps {
  readonly of: 'model' | 'plan';
  readonly rows: readonly Row[];
  readonly nameOf: (id: string, runs: number) => ReactNode;
}

function Groups({ of, rows, nameOf }: GroupsProps) {
  const cellsOf = useCells(compactOf);
  const groups = [...Map.groupBy(rows, (row) => row[of])].map(([id, group]) => ({ id, sums: sumOf(group) }));
  return (
    <section aria-label={`By ${of}`}>
      <h3>By {of}</h3>
      <Table
        label={`Sums by ${of}`}
        head={headOf(of === 'model' ? 'Model' : 'Plan')}
        rows={groups
          .toSorted((one, other) => other.sums.credits - one.sums.credits)
          .map(({ id, sums }) => ({
            key: id,
            cells: [nameOf(id, sums.runs), ...cellsOf(sums, of === 'model' ? id : undefined)],
          }))}
      />
    </section>
  );
}

type MediaSumsProps = { readonly of: UsageTotals['media']; readonly hrefOf: (model: string) => string };

function MediaSums({ of, hrefOf }: MediaSumsProps) {
  const costOf = useCosts();
  return (
    <section aria-labelledby="media">
      <h3 id="media">Images and videos by model</h3>
      <Table
        label="Sums of each model"
        head={['Model', 'Kind', 'Cost', 'Credits', 'Cost of a credit', 'Orders', 'No result', 'Delivered', 'Mean time']}
        rows={of.map(({ kind, model, costUsd, credits, meanMs, ...counts }) => ({
          key: `${kind} ${model}`,
          cells: [
            <ModelLink key="model" of={model} href={hrefOf(model)} />,
            kind,
            costOf(costUsd, model),
            countOf(credits),
            !costUsd || credits === 0 ? '–' : moneyOf(Number((costUsd / credits).toPrecision(3)), true),
            ...[counts.orders, counts.failed, counts.delivered].map(countOf),
            meanMs === null ? '–' : timeOf(meanMs),
          ],
        }))}
      />
      <p className="quiet">
        Orders of these days that have ended. Images of a conversation are counted while its run is stored. Compare the
        cost of a credit with the price at which you sell one.
      </p>
    </section>
  );
}

const headOf = (first: string) => [first, ...columns.map(([name]) => name)];

function ByDay({ rows }: { readonly rows: readonly Row[] }) {
  const [isOpen, setOpen] = useState(false);
  const cellsOf = useCells(countOf);
  return (
    <details className="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Each day, model and plan</summary>
      {isOpen && (
        <Table
          label="Each day, model and plan"
          head={headOf('Day, plan, model')}
          rows={rows.map((row) => ({
            key: `${row.day} ${row.model} ${row.plan}`,
            cells: [
              <ModelLink
                key="day"
                of={row.model}
                before={`${dayNameOf(row.day)}, ${planName(row.plan)}, `}
                href={runsHref({ model: row.model, from: row.day, to: row.day }, row.runs)}
              />,
              ...cellsOf(row, row.model),
            ],
          }))}
        />
      )}
    </details>
  );
}

function TopUsers() {
  const { of, change } = useFilters();
  const month = of('month') || (of('to') || dayOf(Date.now())).slice(0, 7);
  const costOf = useCosts();
  const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month);
  const order = of('order') || 'credits';
  const often = { placeholderData: keepPreviousData, enabled: isMonth };
  const query = useRead<Spenders>('/api/usage/users', { month, order }, often);
  return (
    <Section
      title="Top users"
      more={
        <>
          <Choices
            label="Order of users"
            of={[['credits', 'By credits'] as const, ['cost', 'By cost'] as const]}
            chosen={order}
            choose={(chosen) => change({ order: chosen })}
          />
          <label className="field inline">
            Month
            <input type="month" value={month} onChange={({ target }) => change({ month: target.value })} />
          </label>
        </>
      }
    >
      <Paged
        pages={onePage(query)}
        label="Top users"
        itemsOf={({ users }) => users}
        empty={<Empty title={`No user spent credits in ${monthNameOf(`${month}-01`)}.`} />}
      >
        {(users) => (
          <Table
            label="Credits and costs of users"
            head={['User', 'Cost', 'Credits', 'Runs', 'Images', 'Videos']}
            rows={users.map(({ userId, costUsd, ...used }) => ({
              key: userId,
              cells: [
                <PersonLink key={userId} id={userId} />,
                costOf(costUsd),
                ...[used.credits, used.runs, used.images, used.videos].map(countOf),
              ],
            }))}
          />
        )}
      </Paged>
    </Section>
  );
}

const Configured = () => (
  <Section title="Models and prices">
    <Loaded of={useModels()}>
      {(configured) =>
        listsOf(configured).map(([title, models]) => (
          <Fragment key={title}>
            <h3>{title}</h3>
            <ul className="lines" aria-label={`Models of ${title.toLowerCase()}`}>
              {models.map((model) => (
                <Model key={model.of.id} {...model} />
              ))}
            </ul>
          </Fragment>
        ))
      }
    </Loaded>
  </Section>
);

type Media = ConfiguredModels['media'][number];

/** The models of each kind, as they are shown. */
function listsOf({ models, media }: ConfiguredModels) {
  const nameOf = (id: string) => [...models, ...media].find((one) => one.id === id)?.label ?? id;
  const fallbackOf = (id: string | null) => (id === null ? [] : [`falls back to ${nameOf(id)}`]);
  const ofMedia = (kind: Media['kind'], noun: string) =>
    media
      .filter((of) => of.kind === kind)
      .map((of) => ({
        of,
        href: runsHref({ model: of.id }, 0),
        price: `${creditsOf(of.credits)} for ${noun}`,
        cost: of.costUsd === null ? null : `Costs you ${moneyOf(of.costUsd, true)} each`,
        facts: [of.default && 'Default', plansOf(of.plans), ...fallbackOf(of.fallback)],
      }));
  const ofText = models.map((of) => ({
    of,
    href: runsHref({ model: of.id }, 1),
    price: `${creditsOf(of.credits)} for a run`,
    cost:
      of.costUsd &&
      `Costs you ${moneyOf(of.costUsd.input, true)} for a million tokens in, ${moneyOf(of.costUsd.output, true)} for a million out`,
    facts: [
      ...[of.default && 'Default', of.simulated && 'simulated', plansOf(of.plans)],
      ...[`${compactOf(of.contextTokens)} tokens of context`, of.vision && 'accepts images', of.tools && 'uses tools'],
      ...fallbackOf(of.fallback),
    ],
  }));
  return [
    ['Conversations', ofText],
    ['Images', ofMedia('image', 'an image')],
    ['Videos', ofMedia('video', 'a video')],
  ] as const;
}

type ModelProps = ReturnType<typeof listsOf>[number][1][number];

function Model({ of: { id, label }, href, price, cost, facts }: ModelProps) {
  return (
    <li>
      <div className="row">
        <Link className="strong" href={href}>
          {label}
        </Link>
        <span>{price}</span>
      </div>
      <p className="quiet facts">
        {facts.map((fact) => fact !== false && <span key={fact}>{fact}</span>)}
        {label !== id && <code className="wrapped">{id}</code>}
      </p>
      <p className="quiet">
        {cost ?? (
          <>
            Its cost is not counted. Set <code>costUsd</code> in <SettingLink name="MODELS_FILE" />.
          </>
        )}
      </p>
    </li>
  );
}

/** `null`: all of them. */
function plansOf(plans: readonly Plan[] | null): string {
  if (plans === null || allPlans.every((plan) => plans.includes(plan))) return 'All plans';
  const missing = allPlans.filter((plan) => !plans.includes(plan));
  return missing.length < plans.length
    ? `All plans but ${missing.map(planName).join(', ')}`
    : plans.map(planName).join(' · ');
}
