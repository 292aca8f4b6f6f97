import type { StreamServer } from '../fanout.ts';
export function serve(server: StreamServer): void;
