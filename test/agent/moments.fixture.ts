/** The moments of its runs at which an instance is killed, each a point in its requests to one of its engines. */
import type { Point } from './tapping.fixture.ts';

export interface Moment extends Point {
  readonly when: string;
  readonly engine: 'database' | 'redis' | 'media';
  /** What brings it there; `stop`: the end of a run that is under way. */
  readonly asks?: 'a text' | 'an image' | 'a video' | 'stop' | 'nothing';
}

const commit = /\bcommit\0/;
const runIsInserted = /insert into "agent_runs"/;
const runIsEnded = /update "agent_runs" set "status"/;
const imageIsReserved = /insert into "credit_ledger"[\s\S]*image:/;
const textIsAppended = /"type":"text-delta"/;
const outputIsAppended = /"type":"tool-output-available"/;
const lastIsAppended = /"type":"finish"[,}]/;
const isRegistered = /POST \/v1\/assets/;

export const moments: readonly Moment[] = [
  { when: 'a run is about to be written', engine: 'database', says: [runIsInserted], strike: 'before' },
  { when: 'a start is about to be committed', engine: 'database', says: [runIsInserted, commit], strike: 'before' },
  {
    when: 'a start is committed, and nobody knows',
    engine: 'database',
    says: [runIsInserted, commit],
    strike: 'after',
  },
  { when: 'a run looks for its question', engine: 'database', says: [/from "agent_messages"/], strike: 'before' },
  { when: 'the first event is about to be appended', engine: 'redis', says: [/"type":"start"/], strike: 'before' },
  { when: 'the first event is appended', engine: 'redis', says: [/"type":"start"/], strike: 'after' },
  { when: 'the first words are about to be appended', engine: 'redis', says: [textIsAppended], strike: 'before' },
  { when: 'words are half on their way', engine: 'redis', says: [textIsAppended], nth: 3, strike: 'midst' },
  {
    when: 'words are appended, but shown to nobody here',
    engine: 'redis',
    says: [textIsAppended],
    nth: 6,
    strike: 'after',
  },
  {
    when: 'leases are renewed',
    engine: 'database',
    says: [/set "lease_expires_at"/],
    strike: 'before',
    asks: 'nothing',
  },
  {
    when: 'a tool is called',
    engine: 'redis',
    says: [/"type":"tool-input-available"/],
    strike: 'after',
    asks: 'an image',
  },
  {
    when: 'credits are about to be held for an image',
    engine: 'database',
    says: [imageIsReserved, commit],
    strike: 'before',
    asks: 'an image',
  },
  {
    when: 'credits are held for an image',
    engine: 'database',
    says: [imageIsReserved, commit],
    strike: 'after',
    asks: 'an image',
  },
  {
    when: 'an image is about to be registered',
    engine: 'media',
    says: [isRegistered],
    strike: 'before',
    asks: 'an image',
  },
  {
    when: 'an image is registered, and the run not told',
    engine: 'media',
    says: [isRegistered],
    strike: 'after',
    asks: 'an image',
  },
  {
    when: 'an image is about to be shown',
    engine: 'redis',
    says: [outputIsAppended],
    strike: 'before',
    asks: 'an image',
  },
  {
    when: 'an image is shown, and not paid',
    engine: 'redis',
    says: [outputIsAppended],
    strike: 'after',
    asks: 'an image',
  },
  {
    when: 'a video is ordered, and not shown',
    engine: 'database',
    says: [/insert into "agent_videos"/, commit],
    strike: 'after',
    asks: 'a video',
  },
  { when: 'an end is about to be written', engine: 'database', says: [runIsEnded], strike: 'before' },
  {
    when: 'an answer is written, and not committed',
    engine: 'database',
    says: [runIsEnded, /insert into "agent_messages"/],
    strike: 'after',
  },
  { when: 'an end is about to be committed', engine: 'database', says: [runIsEnded, commit], strike: 'before' },
  { when: 'an end is committed, and nobody knows', engine: 'database', says: [runIsEnded, commit], strike: 'after' },
  { when: 'the last event is about to be appended', engine: 'redis', says: [lastIsAppended], strike: 'before' },
  { when: 'the last event is half on its way', engine: 'redis', says: [lastIsAppended], strike: 'midst' },
  {
    when: 'a stop is about to be committed',
    engine: 'database',
    says: [runIsEnded, commit],
    strike: 'before',
    asks: 'stop',
  },
  {
    when: 'a stop is committed, and nobody knows',
    engine: 'database',
    says: [runIsEnded, commit],
    strike: 'after',
    asks: 'stop',
  },
];
