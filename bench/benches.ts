/** All there are, in the order in which they run. */
import { agent } from './agent.ts';
import type { Bench } from './bench.ts';
import { content } from './content.ts';
import { dataFolder } from './datafolder.ts';
import { deletion } from './deletion.ts';
import { events } from './events.ts';
import { hostile } from './hostile.ts';
import { benches as imageBenches } from './image.ts';
import { installedSize } from './installedsize.ts';
import { library } from './library.ts';
import { mem0 } from './mem0.ts';
import { memory } from './memory.ts';
import { merging } from './merging.ts';
import { operators } from './operators.ts';
import { posts } from './posts.ts';
import { presign } from './presign.ts';
import { processes } from './processes.ts';
import { recall } from './recall.ts';
import { refresh } from './refresh.ts';
import { registration } from './registration.ts';
import { rendition } from './rendition.ts';
import { runs } from './runs.ts';
import { screening } from './screening.ts';
import { signing } from './signing.ts';
import { start } from './start.ts';
import { idleStreams } from './streams.ts';
import { studio } from './studio.ts';
import { threads } from './threads.ts';
import { thumbnail } from './thumbnail.ts';
import { variantMemory } from './variantmemory.ts';
import { videoWatermark } from './videowatermark.ts';
import { writes } from './writes.ts';

export const benches: readonly Bench[] = [
  presign,
  signing,
  deletion,
  writes,
  refresh,
  ...imageBenches,
  thumbnail,
  content,
  posts,
  memory,
  recall,
  mem0,
  merging,
  agent,
  runs,
  threads,
  operators,
  library,
  studio,
  screening,
  videoWatermark,
  rendition,
  start,
  processes,
  installedSize,
  dataFolder,
  idleStreams,
  events,
  registration,
  variantMemory,
  hostile,
];
