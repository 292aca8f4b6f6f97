import { expect, it } from 'vitest';
import type { Incident } from '#media/incidents/api.ts';
import { isAppealOpen, knownOf, othersIn, placeOf } from './incidentstates.ts';

const incident = (changes: object) =>
  ({ id: 'i', status: 'open', origin: 'report', reports: 1, decision: null, resolvedAt: null, ...changes }) as Incident;
const place = (assetId: string, changes: object = {}) => ({
  ...{ assetId, ownerId: 'o', scopeKind: 'feed', scopeId: 'posts', sha256: '', title: null },
  ...{ isCopy: false, isRestricted: false, shareIds: [], hiddenPages: 0, ...changes },
});
const allowed = {
  status: 'cleared',
  decision: { decision: 'dismiss', statement: '', at: '' },
  resolvedAt: new Date().toISOString(),
};

it('a decision can include open incidents, earlier decisions about other files, and files without an incident', () => {
  const own = incident({ id: 'own', assetId: 'a' });
  const incidents = [
    own,
    incident({ id: 'open', assetId: 'b' }),
    incident({ id: 'allowed', assetId: 'c', ...allowed }),
    incident({ id: 'allowed copy', assetId: 'd', ...allowed }),
    incident({ id: 'blocked', assetId: 'f', origin: null }),
  ];
  const copies = [place('a', { isCopy: true }), place('d', { isCopy: true }), place('e', { isCopy: true })];
  const places = [...copies, place('b'), place('c'), place('f'), place('g', { isRestricted: true })];
  const keys = othersIn({ places, incidents }, own).map((one) => ('id' in one ? one.id : one.assetId));
  expect(keys).toEqual(['open', 'allowed copy', 'allowed', 'f']);
});

it('names who reported a file, and the decision about it', () => {
  const at = new Date(Date.now() - 7 * 60_000).toISOString();
  const appeal = { text: 'No.', at: new Date(Date.now() - 9 * 60_000).toISOString() };
  const answered = incident({ ...allowed, reports: 4, resolvedAt: at, appeal });
  expect(knownOf(answered)).toBe('reported by 4 people, allowed 7 minutes ago, after an appeal');
  expect(knownOf(incident({ reports: 0 }))).toBe('not reported');
  expect([isAppealOpen(answered), isAppealOpen({ ...answered, resolvedAt: appeal.at.replace('Z', '+01:00') })]).toEqual(
    [...[false, true]],
  );
});

it.each([
  ['Published in Explore', {}],
  ['Hidden from Explore', { decision: { decision: 'restrict' } }],
  ['Hidden from Explore', { isRestricted: true }],
  ['Removed', { decision: { decision: 'remove' } }],
  ['Blocked', { origin: null }],
  ['In a conversation', { origin: null, scopeKind: 'thread' }],
  ['Blocked', { origin: null, scopeKind: 'library' }],
])('shows the place as %s', (words, changes) => {
  expect(placeOf({ scopeKind: 'feed', scopeId: 'posts', assetId: 'a', ...changes } as never).words).toBe(words);
});
