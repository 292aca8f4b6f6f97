/**
 * `npm run measure -- day [<users>]`: a day of a large installation on paper, from the measured costs of docs/capacity.md. Prints the processors
 * that each hour needs, the rows and objects that the day adds, and the calls to the engines.
 */
const users = Number(process.argv[2] ?? 10_000_000);
if (!Number.isSafeInteger(users) || users < 1) throw new Error('Usage: npm run measure -- day [<users>], at least 1');
const activeShare = 0.1;
/** Processors are planned to be this busy in the busiest hour, so that a lost machine and a burst have room. */
const busyShare = 0.5;
const runSeconds = 20;

/** Per active user and day. `ms`: processor time of one call (docs/capacity.md). */
interface Kind {
  readonly name: string;
  readonly daily: number;
  readonly ms: number;
  /** Statements that write, messages to Redis, and requests to the object store. */
  readonly writes: number;
  readonly redis: number;
  readonly puts: number;
  readonly gets: number;
  /** Bytes of rows with their indexes. */
  readonly rowBytes: number;
}

const nothing = { writes: 0, redis: 0, puts: 0, gets: 0, rowBytes: 0 };
const kinds: readonly Kind[] = [
  { ...nothing, name: 'open the app: announcement, cards', daily: 5, ms: 0.1, redis: 1 },
  { ...nothing, name: 'sign 200 refs of a page', daily: 6, ms: 0.83, redis: 2 },
  {
    ...nothing,
    name: 'register a 12 MP image',
    daily: 3,
    ms: 300,
    writes: 4,
    redis: 2,
    puts: 2,
    gets: 2,
    rowBytes: 577,
  },
  { ...nothing, name: 'make a variant of 12 MP', daily: 6, ms: 200, puts: 1, gets: 1 },
  { ...nothing, name: 'copy an asset', daily: 0.5, ms: 3.4, writes: 4, redis: 1, puts: 2, gets: 1, rowBytes: 577 },
  { ...nothing, name: 'delete an asset', daily: 0.3, ms: 2, writes: 4, redis: 1, puts: 2 },
  // At 100 tokens a second, a processor serves 100 runs at once. Their deltas are appended ten times a second.
  {
    ...nothing,
    name: `run of ${runSeconds} s`,
    daily: 3,
    ms: runSeconds * 10,
    writes: 8,
    redis: runSeconds * 30,
    rowBytes: 3150,
  },
  { ...nothing, name: 'inject memories', daily: 3, ms: 1.6, redis: 1 },
  { ...nothing, name: 'add a memory', daily: 1, ms: 2.1, writes: 3, redis: 1, rowBytes: 1697 },
  { ...nothing, name: 'send a mail', daily: 1, ms: 2.4, writes: 4, rowBytes: 461 },
];

/** Twice the mean at the peak, and nearly none in the small hours. */
const shareOf = (hour: number) => (1 + Math.cos(((hour - 20) / 12) * Math.PI)) / 24;
const active = users * activeShare;
const sum = (value: (kind: Kind) => number) => kinds.reduce((total, kind) => total + kind.daily * value(kind), 0);
const rounded = (value: number) => Math.round(value).toLocaleString('en-US');

console.table(
  kinds.map(({ name, daily, ms }) => ({
    call: name,
    'per second, mean': rounded((active * daily) / 86_400),
    'per second, peak': rounded((active * daily * shareOf(20)) / 3600),
    'processors, peak': rounded((active * daily * ms * shareOf(20)) / 3_600_000),
  })),
);
console.table(
  Array.from({ length: 8 }, (_, at) => at * 3).map((hour) => ({
    hour: `${hour}:00`,
    processors: rounded((active * sum(({ ms }) => ms) * shareOf(hour)) / 3_600_000),
    'writes per second': rounded((active * sum(({ writes }) => writes) * shareOf(hour)) / 3600),
    'Redis per second': rounded((active * sum(({ redis }) => redis) * shareOf(hour)) / 3600),
    'runs at once': rounded((active * 3 * runSeconds * shareOf(hour)) / 3600),
  })),
);
const peak = (active * sum(({ ms }) => ms) * shareOf(20)) / 3_600_000;
console.log(`Processors at ${busyShare * 100} % in the busiest hour: ${rounded(peak / busyShare)}.`);
console.log(`Rows added: ${rounded((active * sum(({ rowBytes }) => rowBytes)) / 1e9)} GB a day with indexes.`);
console.log(
  `Object store: ${rounded((active * sum(({ puts }) => puts)) / 1e6)} million writes and ${rounded((active * sum(({ gets }) => gets)) / 1e6)} million reads a day.`,
);
