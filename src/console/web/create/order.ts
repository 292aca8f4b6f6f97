/** An order of images or a video, as the page "Create" sends it, and what another page has prepared for it. */
import { navigate } from 'wouter/use-browser-location';
import type { Generation } from '../../../client/agent/api.ts';
import type { User } from '../user.tsx';

export type Kind = 'image' | 'video';

export interface Order {
  readonly kind: Kind;
  readonly prompt: string;
  /** `undefined`: the default of its kind. */
  readonly model: string | undefined;
  /** `undefined`: the default of the model, or that of the first reference. */
  readonly ratio: string | undefined;
  readonly count: number;
  /** Seconds. `undefined`: the model decides. */
  readonly duration: number | undefined;
  /** Ids of assets. The first one is the first frame of a video. */
  readonly references: readonly string[];
}

export const emptyOrder: Order = {
  kind: 'image',
  prompt: '',
  model: undefined,
  ratio: undefined,
  count: 4,
  duration: undefined,
  references: [],
};

/** Opens the page with an order that is not sent yet. It survives a reload. */
export const startCreating = (order: Partial<Order>): void => navigate('/create', { state: { order, at: Date.now() } });

export function preparedOrder(state: unknown): { readonly order: Order; readonly at: number } | undefined {
  const { order, at } = Object(state) as { readonly order?: Partial<Order>; readonly at?: number };
  return order === undefined ? undefined : { order: { ...emptyOrder, ...order }, at: at ?? 0 };
}

const orderOf = ({ kind, prompt, model, ratio, count, duration, references }: Order): object => {
  const refs = references.map((id) => `asset:${id}`);
  const common = { prompt: prompt.trim(), model, ratio };
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
