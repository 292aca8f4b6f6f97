/** Orders of images and videos: what another page has prepared, what is sent, and what the user has ordered. */
import { type InfiniteData, useQueryClient } from '@tanstack/react-query';
import { navigate } from 'wouter/use-browser-location';
import type { Generation, GenerationPage, ModelList } from '../../../client/agent/api.ts';
import type { Asset } from '../../../client/media/api.ts';
import strengths from '../../../platform/strengths.json' with { type: 'json' };
import { splitPrompt } from '../library/assets.ts';
import { type Deed, type Kind, type Order, openDialog } from '../library/dialogs.ts';
import { createShared } from '../shell/shared.ts';
import { type User, useOwn, useOwnPages, useReread, useUser } from '../user.tsx';

export type { Generation };
export type GenerationItem = Generation['items'][number];
export type Model = ModelList['models'][number];

export const emptyOrder: Order = { kind: 'image', prompt: '', references: [] };

/** Opens the page with an order that is not sent yet, which survives a reload. With references: a dialog over the page. */
export function startCreating({ deed, ...given }: Partial<Order> & { readonly deed?: Deed }): void {
  const order = { ...emptyOrder, ...given };
  const chosen = deed ?? (order.kind === 'video' ? 'animate' : 'remix');
  // Every dialog begins with the same number of images.
  const same = { count: undefined, strength: chosen === 'remix' ? undefined : ('subtle' as const) };
  if (order.references.length === 0) openCreate(order);
  else openDialog({ kind: 'create', deed: chosen, order: { ...order, ...same } });
}

const openCreate = (order: Order): void => navigate('/create', { state: { order, at: Date.now() } });

/** Opens the page with the prompt and the settings that made an asset. `known`: what else is known of the order. */
export async function createAgain(user: User, assetId: string | null, known: Partial<Order>): Promise<void> {
  const asset = assetId === null ? undefined : await user.json<Asset>('media', `/v1/assets/${assetId}`);
  const made: Partial<NonNullable<Asset['generation']>> = asset?.generation ?? {};
  const { prompt = known.prompt ?? '', model = known.model, ratio, references = known.references ?? [] } = made;
  openCreate({ ...emptyOrder, ...known, ...splitPrompt(prompt, known.kind), model, ratio, references });
}

interface PreparedOrder {
  readonly order: Order;
  readonly at: number;
  /** The user chose it at this price, so it is sent as soon as its model is known, unless it costs more. */
  readonly agreedCredits?: number | undefined;
}

export function preparedOrder(state: unknown): PreparedOrder | undefined {
  const { order, at = 0, agreedCredits } = Object(state) as Partial<PreparedOrder>;
  return order === undefined ? undefined : { order: { ...emptyOrder, ...order }, at, agreedCredits };
}

/** A reload shows the order, and does not send it again. */
export function forgetAgreement(): void {
  const { agreedCredits: _agreed, ...others } = Object(history.state);
  history.replaceState(others, '');
}

const orderOf = ({ kind, prompt, strength, model, ratio, count, duration, references }: Order): object => {
  const refs = references.map((id) => `asset:${id}`);
  const ending = strength && references.length > 0 ? strengths[kind][strength] : '';
  const common = { prompt: [prompt.trim(), ending].filter(Boolean).join('\n'), model, ratio };
  return kind === 'image'
    ? { ...common, n: count, references: refs }
    : { ...common, duration, firstFrame: refs[0], references: refs.slice(1) };
};

/** `key`: a repeated order with it is the same order. */
export function sendOrder(user: User, order: Order, key: string): Promise<Generation> {
  const path = order.kind === 'image' ? '/images' : '/videos';
  const headers = { 'idempotency-key': key };
  return user.json<Generation>('agent', path, { method: 'POST', headers, json: orderOf(order) });
}

/** Operators read the status with the run. */
export const plainFailure = (message: string): string =>
  message.replace(/ provider returned \d+\.$/, ' service reported an error.');

// The user's generations, newest first.

type Pages = InfiniteData<GenerationPage, string>;

/** Events report the ends. This also shows the images of an order one after the other. */
const lookEveryMs = 2000;
export const useGenerations = () =>
  useOwnPages<GenerationPage>(
    ['generations'],
    'agent',
    '/generations',
    { limit: '20' },
    {
      refetchInterval: ({ state: { data } }) =>
        data?.pages[0]?.generations.some((one) => one.status === 'running' && !isSending(one)) ? lookEveryMs : false,
    },
  );

/** The service does not have the order yet. */
export const isSending = (generation: Generation): boolean => 'isSending' in generation;

/** An order as the list shows it until the service has it. */
export function unsent(id: string, sent: Order, credits: number): Generation {
  const { kind, prompt, model = '', count = 1, references } = sent;
  const empty = { status: 'running', assetId: null, url: null, mime: null, width: null, height: null, failure: null };
  const items = Array.from({ length: kind === 'image' ? count : 1 }, (_, index) => ({ ...empty, index }));
  const order = {
    ...{ id, kind, prompt, model, references, credits, items },
    status: 'running',
    origin: 'api',
    isSending: true,
  };
  return { ...order, createdAt: new Date().toISOString(), endedAt: null } as Generation;
}

/** Shows a new order at once, in place of the one with the id `former`. `undefined`: it was refused. */
export function useShowOrder(): (generation: Generation | undefined, former?: string) => void {
  const user = useUser();
  const queries = useQueryClient();
  const reread = useReread();
  const queryKey = ['generations', user.id];
  return (generation, former) => {
    void queries.cancelQueries({ queryKey });
    queries.setQueryData<Pages>(queryKey, (data) => {
      const [first = { generations: [], next_cursor: null }, ...rest] = data?.pages ?? [];
      const others = first.generations.filter(({ id }) => id !== generation?.id && id !== former);
      const generations = generation ? [generation, ...others] : others;
      return { pageParams: [''], ...data, pages: [{ ...first, generations }, ...rest] };
    });
    if (generation !== undefined && isSending(generation)) return;
    void reread('generations');
    void reread('credits');
  };
}

// Orders without a result that the user has removed from the page, in this browser. The service keeps them.

const removedKey = 'atelier.removed-orders';
const mostRemoved = 200;
const removed = createShared<readonly string[]>(JSON.parse(globalThis.localStorage?.getItem(removedKey) ?? '[]'));

export const useRemoved = removed.use;
export function removeOrders(ids: readonly string[]): void {
  removed.write([...ids, ...removed.read()].slice(0, mostRemoved));
  localStorage.setItem(removedKey, JSON.stringify(removed.read()));
}

/** The first one of a kind is its default. */
export function useModels(kind: Kind | 'chat'): readonly Model[] {
  const { data } = useOwn<ModelList>(['models', kind], 'agent', `/models?kind=${kind}`, { staleTime: 300_000 });
  return data?.models ?? [];
}

/** By the id of `GET /models`: the name that all pages show. */
export function useModelName(kind: Kind, id: string): string {
  const models = useModels(kind);
  const words = id.replaceAll(/[-_/]+/g, ' ').trim();
  const former = `${words.charAt(0).toUpperCase()}${words.slice(1)} (no longer offered)`;
  return models.find((model) => model.id === id)?.label ?? (models.length > 0 && id !== '' ? former : '');
}

/** The ratio of an order is known only where it was given. */
const ratios = new Map<string, string>();
export const rememberRatio = (id: string, ratio: string): unknown => ratios.set(id, ratio);

/** Width by height: of the first result, or as ordered. */
export function ratioOf({ id, kind, items }: Generation): number {
  const { width, height } = items.find((item) => item.width && item.height) ?? {};
  return width && height ? width / height : quotientOf(ratios.get(id) ?? (kind === 'video' ? '16:9' : '1:1'));
}

export function quotientOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}
