/** What an operator has to look at now, each with the page that shows it. */
import { type ComponentProps, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import type { UsageTotals } from '#agent/operatorapi.ts';
import type { GenerationRecordPage } from '#agent/records/api.ts';
import type { EmailList } from '#client/notify/api.ts';
import type { ErrorList, History, Overview } from '../../api.ts';
import type { ShownRun, ShownRunPage } from '../../runs/api.ts';
import { useConsole } from '../operator.tsx';
import { countOf, countUpTo, momentOf } from '../parts/figures.tsx';
import { useRead } from '../parts/server.ts';
import { Status } from '../parts/states.tsx';
import texts from './attention.json' with { type: 'json' };
import { useBudgets } from './budgets.tsx';
import type { Listed } from './incidents.tsx';
import { isUrgent } from './incidentstates.ts';
import { allOf, useModels, workOf } from './names.tsx';
import { groupsOfFailures } from './run.tsx';
import { clockOf, dayMs, dayOf, moneyOf } from './units.ts';

const recentMs = 10 * 60_000;
export const mostRuns = 100;
/** The length of a page of emails. */
const mostMails = 50;

export const dayBefore = (day: string) => dayOf(Date.parse(day) - dayMs);

/** The most severe first. Those of the same severity keep their order. */
const severities = ['bad', 'warn', 'busy'] as const;
type Tone = (typeof severities)[number];
type Item = readonly [tone: Tone, text: string, href: string, link: string];

/** `rest` follows the text, `what` is a part of it, and `queue` is a part of the link. */
type More = Readonly<Partial<Record<'rest' | 'what' | 'queue', string>>> & { readonly most?: number };

function item(name: keyof typeof texts, count: number, { rest = '', what = '', queue = '', most }: More = {}) {
  const { tone, one, many, href, link } = texts[name];
  const text = (count === 1 ? one : many).replace('{}', countUpTo(most ?? count, count)).replace('{what}', what);
  return count > 0 && ([tone as Tone, text + rest, href + encodeURIComponent(queue), link] as const);
}

/** All that the Overview shows. */
export function useDesk() {
  const { data: info } = useConsole();
  const enabled = info?.hasPeople === true;
  // What failed right before midnight, in UTC, still needs attention after it.
  const today = dayOf(Date.now() - recentMs);
  const failed = { status: 'failed', from: today, limit: 100 };
  const often = { refetchInterval: 15_000, enabled };
  const yesterday = dayBefore(today);
  const failedBefore = { ...failed, from: yesterday, to: yesterday };
  const once = { staleTime: 300_000, enabled };
  const parts = {
    overview: useRead<Overview>('/api/overview', {}, { refetchInterval: 5000 }),
    history: useRead<History>('/api/history', {}, { refetchInterval: 15_000 }),
    errors: useRead<ErrorList>('/api/errors', {}, { refetchInterval: 10_000 }),
    runs: useRead<ShownRunPage>('/api/runs', failed, often),
    // As the page Runs has them, also after a restart of the console.
    newest: useRead<ShownRunPage>('/api/runs', { limit: mostRuns }, often),
    orders: useRead<GenerationRecordPage>('/api/generations', failed, often),
    runsBefore: useRead<ShownRunPage>('/api/runs', failedBefore, once),
    ordersBefore: useRead<GenerationRecordPage>('/api/generations', failedBefore, once),
    usage: useRead<UsageTotals>('/api/usage/totals', { from: yesterday, to: dayOf(Date.now()) }, often),
    failedMails: useRead<EmailList>('/api/notify/emails', { status: 'failed' }, often),
    delayedMails: useRead<EmailList>('/api/notify/emails', { status: 'delayed' }, often),
    incidents: useRead<Listed>('/api/incidents', { status: 'open', order: 'priority', limit: 200 }, often),
    budgets: useBudgets(),
  };
  // A service that does not respond must not hold the page back.
  const isRead = Object.values(parts).every(
    (part) => !part.isPending || !part.isFetching || part.failureCount + part.errorUpdateCount > 0,
  );
  return { ...parts, isRead, today, hasPeople: enabled };
}
export type Desk = ReturnType<typeof useDesk>;

export const since = (at: string | null, ms: number) => at !== null && Date.parse(at) > Date.now() - ms;

/** Emails with this status, and the reason if it is that of all. */
function mailsOf(data: EmailList | undefined, lastMs = Number.POSITIVE_INFINITY) {
  const mails = (data?.data ?? []).filter((mail) => since(mail.created_at, lastMs));
  const reasons = new Set(mails.map((mail) => mail.reason ?? ''));
  const count = mails.length === mostMails && data?.has_more ? mostMails + 1 : mails.length;
  const rest = reasons.size > 1 || reasons.has('') ? '' : `: ${[...reasons][0]}`;
  return [count, { rest, most: mostMails }] as const;
}

const heightKey = 'atelier.attention';

/** If the overview cannot be read, the last known state. Until all is read, it has its former height, so that the page stays. */
export function Attention({ desk }: { readonly desk: Desk }) {
  const card = useRef<HTMLElement>(null);
  const minHeight = desk.isRead ? 0 : Number(localStorage.getItem(heightKey) ?? 216);
  useEffect(() => {
    if (desk.isRead) localStorage.setItem(heightKey, String(card.current?.offsetHeight));
  });
  const { error, data: overview } = desk.overview;
  const { open = 0, openAppeals = 0 } = desk.incidents.data?.counts ?? {};
  const { services = [], queues = [], largestCount = 0, webhooks = null } = overview ?? {};
  const unwell = services.filter(({ status }) => status !== 'ready');
  const urgent = desk.incidents.data?.incidents.filter(isUrgent).length ?? 0;
  // Webhooks have a page of their own.
  const others = (queues ?? []).filter(({ queue, dead }) => dead > 0 && queue !== webhooks?.queue);
  const jobs = others.reduce((sum, { dead }) => sum + dead, 0);
  const works = others.map(({ queue }) => workOf(queue)).join(', ');
  const errors = (desk.errors.data?.errors ?? []).filter(({ at }) => since(at, recentMs));
  const failing = list.format([...new Set(errors.map(({ service }) => service))]);
  const runs = (desk.runs.data?.runs ?? []).filter(({ endedAt }) => since(endedAt, recentMs));
  const orders = (desk.orders.data?.generations ?? [])
    .filter(({ endedAt }) => since(endedAt, recentMs))
    .map(({ failure, ...order }) => ({ ...order, error: failure }));
  const atLeast = allOf(useModels().data).some(({ costUsd }) => costUsd === null) ? '≥ ' : '';
  const all: readonly (Item | false)[] = [
    unwell.length > 0 && ['bad', sentenceOf(unwell, services.length), '#services', 'Show the services'],
    item('urgent', urgent),
    item('errors', errors.length, { rest: ` of ${failing} since ${clockOf(errors.at(-1)?.at)}` }),
    item('runs', runs.length, { rest: failuresOf(runs) }),
    item('orders', orders.length, { rest: failuresOf(orders) }),
    item('jobs', jobs, { rest: `: ${works}`, most: largestCount, queue: others[0]?.queue ?? '' }),
    ...webhookItems(webhooks),
    item('failedMails', ...mailsOf(desk.failedMails.data, dayMs)),
    item('delayedMails', ...mailsOf(desk.delayedMails.data)),
    item('open', open - urgent),
    item('appeals', openAppeals),
    ...(desk.budgets.data?.budgets ?? []).map(({ period, percent, spentUsd, budgetUsd }) => {
      const rest = `: ${atLeast}${moneyOf(spentUsd)} of ${moneyOf(budgetUsd)}`;
      return item(percent >= 100 ? 'spent' : 'budget', percent >= 80 ? percent : 0, { rest, what: period });
    }),
  ];
  const items = all
    .filter((one) => one !== false)
    .toSorted(([one], [other]) => severities.indexOf(one) - severities.indexOf(other));
  const needed = items.length === 1 ? '1 thing needs your attention' : `${items.length} things need your attention`;
  const calm = desk.isRead ? 'Nothing needs your attention.' : 'Reading the state of every service …';
  const isReady = overview !== undefined && unwell.length === 0;
  return (
    <section ref={card} style={{ minHeight }} className="card attention" aria-label="State">
      <p role="status" className="attention-state">
        {error ? (
          <Status tone="bad">{error.message} This is the last known state.</Status>
        ) : (
          <>
            {isReady && <Status tone="good">All {services.length} services are ready</Status>}
            <span className={items.length > 0 ? 'strong' : 'quiet'}>{items.length > 0 ? needed : calm}</span>
          </>
        )}
      </p>
      {items.length > 0 && (
        <ul className="lines" aria-label="Needs attention">
          {items.map(([tone, text, href, link]) => (
            <li key={text} className="row">
              <Status tone={tone}>{text}</Status>
              <Way href={href}>{link}</Way>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

type WayProps = Pick<ComponentProps<'a'>, 'aria-label' | 'children'> & { readonly href: string };

/** To another page, or to a part of this one. */
export const Way = (props: WayProps) => (props.href.startsWith('#') ? <a {...props} /> : <Link {...props} />);

function webhookItems(of: Overview['webhooks']): readonly (Item | false)[] {
  if (of === null) return [];
  const { receiver, largestCount, failing, dead, failingSince, reason } = of;
  const since = failingSince === null ? '' : `, since ${momentOf(failingSince)}`;
  const more = { what: new URL(receiver).host, most: largestCount };
  const rest = since + (reason === null ? '' : `: ${reason}`);
  return [item('failing', failing, { ...more, rest }), item('dead', dead, more)];
}

type Failures = readonly Pick<ShownRun, 'error' | 'answer' | 'endedAt'>[];

/** Such as ` since 4:04 PM: 12 × The model provider returned 500.` */
function failuresOf(all: Failures): string {
  const texts = groupsOfFailures(all).map(({ reason, count }) =>
    count === 1 ? reason : `${countOf(count)} × ${reason}`,
  );
  const more = texts.length > 3 ? [`and ${countOf(texts.length - 3)} more`] : [];
  return ` since ${clockOf(all.at(-1)?.endedAt)}: ${[...texts.slice(0, 3), ...more].join(' · ')}`;
}

const list = new Intl.ListFormat('en-US', { type: 'conjunction' });

function sentenceOf(unwell: Overview['services'], all: number): string {
  const names = unwell.map(({ service }) => service).join(', ');
  if (unwell.length > 1) return `${unwell.length} of ${all} services are not ready: ${names}`;
  return `${names} is not ready${unwell[0]?.status === 'unreachable' ? ': no answer' : ''}`;
}
