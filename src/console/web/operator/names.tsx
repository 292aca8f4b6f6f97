/** Links, and names of people, conversations, models and queues, and pictures of files, wherever a service returns ids. */
// The styles of all pages of the desk, in the order in which they apply.
import './desk.css';
import './operator.css';
import './runs.css';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Names, PeoplePage } from '#accounts/people/api.ts';
import type { ConfiguredModels } from '#agent/operatorapi.ts';
import type { Titles } from '#agent/records/api.ts';
import type { EmailList } from '#client/notify/api.ts';
import { type ContentLanguage, contentLanguages } from '#platform/language.ts';
import { callJson } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { countOf } from '../parts/figures.tsx';
import { batching, useRead } from '../parts/server.ts';
import { CopyButton } from '../studio/copybutton.tsx';
import { placeOf } from './personview.ts';
import queueNames from './queues.json' with { type: 'json' };
import { moneyOf } from './units.ts';

/** As many names as one call returns. */
const most = 100;

/** `null`: the person has no name. */
export const readName = batching(most, async (ids) => (await callJson<Names>(`/api/people/names?ids=${ids}`)).names);
/** An address finds its user. Unknown ones find nothing. */
export async function readId(typed: string): Promise<string> {
  if (!typed.includes('@')) return typed;
  const search = `/api/people?${new URLSearchParams({ q: typed })}`;
  const { people } = await callJson<PeoplePage>(search).catch(() => ({ people: [] }));
  return people.find(({ email }) => email?.toLowerCase() === typed.toLowerCase())?.id ?? typed;
}

/** The id that was entered, or that of the user with this address. `undefined`: being found. Unknown addresses are not changed. */
export function useId(typed: string): string | undefined {
  const isEmail = typed.includes('@');
  const { data } = useQuery({ queryKey: ['id', typed], enabled: isEmail, queryFn: () => readId(typed) });
  return isEmail ? data : typed;
}

const readTitle = batching(most, async (ids) => (await callJson<Titles>(`/api/threads/titles?ids=${ids}`)).titles);

/** `undefined`: not read yet. `null`: there is none. */
function useGathered(kind: string, id: string, read: (id: string) => Promise<string | null>) {
  const options = { queryKey: [kind, id], staleTime: 300_000, retry: false, enabled: id !== '' };
  const { data } = useQuery({ ...options, queryFn: () => read(id) });
  return data;
}

const useName = (id: string): string => useGathered('name', id.toLowerCase(), readName) ?? `User ${id.slice(0, 8)}`;

export function PersonLink({ id }: { readonly id: string }) {
  const name = useName(id);
  return (
    <Link href={`/operator/people/${id}`} className="person-link" title={id}>
      {name}
    </Link>
  );
}

type EntityNameProps = { readonly type: string; readonly id: string; readonly isLink?: boolean };

/** An entity of the memory service, by name if it is a user. */
export function useEntityName({ type, id }: EntityNameProps): string {
  const isUser = type === 'user' && isId.test(id);
  const name = useName(isUser ? id : '');
  return isUser ? name : `${type === 'user' ? 'User' : 'Group'} ${id}`;
}

export function EntityName({ isLink = false, ...of }: EntityNameProps) {
  const name = useEntityName(of);
  return isLink && of.type === 'user' && isId.test(of.id) ? (
    <PersonLink id={of.id} />
  ) : (
    <span title={of.id}>{name}</span>
  );
}

export const memoriesHref = ({ type, id }: EntityNameProps): string =>
  `/operator/memory?${new URLSearchParams({ entity_type: type, entity_id: id })}`;

export const AllMemories = (of: EntityNameProps) => <Link href={memoriesHref(of)}>All memories of this {of.type}</Link>;

export const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
export const PersonName = ({ id }: { readonly id: string }) => <span title={id}>{useName(id)}</span>;

export const untitled = 'A deleted or temporary conversation';

/** The first words of a conversation, or its title. */
export function useThreadTitle(threadId: string | null): string {
  const title = useGathered('thread title', threadId ?? '', readTitle);
  return title === undefined ? '…' : title || untitled;
}

export function useModels() {
  const { data: info } = useConsole();
  const enabled = info?.isOperator === true && info.hasPeople;
  return useRead<ConfiguredModels>('/api/models', {}, { staleTime: 300_000, enabled });
}

export const allOf = ({ models, media }: Pick<ConfiguredModels, 'models' | 'media'> = { models: [], media: [] }) => [
  ...models,
  ...media,
];

/** The labels of models. A model that is no longer configured has no label. Earlier versions counted under `mcp`. */
export function useModelNames(): (id: string) => string {
  const { data } = useModels();
  const all = allOf(data);
  // Such as `openai/gpt-4o`.
  const removed = (id: string) => (data === undefined ? id : `${id.split('/').at(-1)} (removed)`);
  return (id) => all.find((one) => one.id === id)?.label ?? (id === 'mcp' ? 'MCP clients, any model' : removed(id));
}

/** The runs of a model. Images and videos without a run are another list. */
export const runsHref = (query: Readonly<Record<string, string>>, runs: number): string =>
  `/operator/runs?${new URLSearchParams({ ...query, ...(runs === 0 && { kind: 'generations' }) })}`;

/**
 * Nothing is counted where no price is set, so a sum that contains such a part is a lower bound. `model`: the one that the cost is of;
 * otherwise it is a sum of all.
 */
export function useCosts(): (usd: number | null, model?: string) => ReactNode {
  const all = allOf(useModels().data);
  const isPartial = (model?: string) =>
    all.some(({ id, costUsd }) => costUsd === null && (model === undefined || id === model));
  const isKnown = (model?: string) => !isPartial(model) && (model === undefined || all.some(({ id }) => id === model));
  return (usd, model) => {
    if (usd === null || (usd === 0 && !isKnown(model))) return <Unknown why="no price set" />;
    return isPartial(model) ? <span title="At least: a model has no price">≥ {moneyOf(usd)}</span> : moneyOf(usd);
  };
}

/** A dash, with the reason for readers of the page and of its text. */
export const Unknown = ({ why }: { readonly why: string }) => (
  <span className="quiet" title={why}>
    <span aria-hidden="true">–</span>
    <span className="unseen">{why}</span>
  </span>
);

/** A run has tokens, so a sum of 0 is of models that report none, such as those of images. */
export const tokensOf = (tokens: number, show = countOf): ReactNode =>
  tokens === 0 ? <Unknown why="no tokens reported" /> : show(tokens);

type ModelLinkProps = { readonly of: string; readonly href: string; readonly before?: string };

/** Labels are not unique, so the id is shown too. */
export function ModelLink({ of: id, href, before = '' }: ModelLinkProps) {
  const name = useModelNames()(id);
  return (
    <>
      <Link href={href}>{before + name}</Link> {name !== id && <code className="desk-model quiet">{id}</code>}
    </>
  );
}

/** To the page that shows what an action of the audit log was on. */
export function ActionLink({ of }: { readonly of: Parameters<typeof placeOf>[0] }) {
  const place = placeOf(of);
  return place && <Link href={place[0]}>{place[1]}</Link>;
}

/** Recipients of a mail, each with a search for the person. */
export const Recipients = ({ of: recipients, outcomeOf }: RecipientsProps) => (
  <p className="row start">
    {recipients.map((one) => {
      const address = /<([^<>]+)>$/.exec(one)?.[1] ?? one;
      return (
        <span key={one}>
          <Link className="person-link" href={`/operator/people?${new URLSearchParams({ q: address })}`}>
            {one}
          </Link>{' '}
          <span className="quiet">{outcomeOf(address.toLowerCase())}</span>
        </span>
      );
    })}
  </p>
);
type RecipientsProps = { readonly of: readonly string[]; readonly outcomeOf: (address: string) => string };

type IdProps = { readonly of: string; readonly name: string; readonly url?: string | null; readonly href?: string };

/** An id to copy into a search of logs or traces. */
export const Id = ({ of: id, name, url = null, href }: IdProps) => (
  <span className="record-id">
    {url === null ? (
      <code>{href === undefined ? id : <Link href={href}>{id}</Link>}</code>
    ) : (
      <a href={url} target="_blank" rel="noreferrer">
        <code>{id}</code>
      </a>
    )}
    <CopyButton label={`Copy the ${name}`} read={() => id} />
  </span>
);

export function RequestId({ id, traceUrl }: { readonly id: string | null; readonly traceUrl: string | null }) {
  return (
    <>
      {id !== null && (
        <span>
          Request id <code className="wrapped">{id}</code>
        </span>
      )}
      {traceUrl !== null && (
        <a href={traceUrl} target="_blank" rel="noreferrer">
          Trace
        </a>
      )}
    </>
  );
}

type LanguageChoice = readonly [tag: ContentLanguage, name: string];
const languageNames = new Intl.DisplayNames('en', { type: 'language' });

export const languageChoices = contentLanguages.map(
  (tag) => [tag, languageNames.of(tag.replace('_', '-')) ?? tag] as const,
) as [LanguageChoice, ...LanguageChoice[]];

export const SettingLink = ({ name }: { readonly name: string }) => (
  <Link href={`/operator/settings?q=${name}`}>
    <code>{name}</code>
  </Link>
);

type ListedMail = EmailList['data'][number];

/** A failed email is delayed, too, if the service that requested it tries it again. */
export const mailStatusOf = ({ status, reason, next_attempt_at }: ListedMail): 'delayed' | ListedMail['status'] =>
  (status === 'scheduled' && reason !== null) || (status === 'failed' && next_attempt_at !== null) ? 'delayed' : status;

/** A mail of an installation without a mail server was not sent. */
export const mailStateOf = (status: string, isInOutbox: boolean): string =>
  isInOutbox && status === 'sent' ? 'stored in the outbox' : status;

/** What the jobs of each queue do. A queue without a name is shown as it is. */
const works: Readonly<Record<string, string>> = queueNames;

export const workOf = (queue: string): string => works[queue] ?? queue;
