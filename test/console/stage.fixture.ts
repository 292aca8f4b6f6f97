/** One running suite and one browser for all scenes; each scene has a clean profile, watched from its first page. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, type ExpectStatic, it } from 'vitest';
import { launchChromium } from '../chromium.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { type ConsoleRig, createVisitors, startConsole, type Visitor } from './rig.fixture.ts';
import { startWire, type Wire } from './wire.fixture.ts';

export interface Stage {
  readonly rig: ConsoleRig;
  readonly browser: Browser;
  /** The agent and the content service are reached over wires. */
  readonly wires: { readonly agent: Wire; readonly content: Wire };
}

/** What a scene is given; `expect` knows its scene while others play. */
export type Given = Visitor & Stage & { readonly expect: ExpectStatic };

/** Declares a scene. At its end, the browser must have reported no error and sent no request to another host. */
export type Scene = (name: string, play: (given: Given) => Promise<void>) => void;

/** Declares the scene in the nightly lane only. */
export const atNight =
  (scene: Scene): Scene =>
  (...args) => {
    if (isNightly) scene(...args);
  };

const endsWhatHangsMs = 300_000;

/** `prepare` returns more settings of the suite. */
export function openStage(prepare = async (): Promise<Readonly<Record<string, string>>> => ({})): Scene {
  let stage: Stage;
  const visitors = createVisitors(() => stage.browser);
  beforeAll(async () => {
    const behind = (offset: number) => () => Number(new URL(stage.rig.url).port) + offset;
    const [agent, content] = await Promise.all([startWire(behind(4)), startWire(behind(6))]);
    const [rig, browser] = await Promise.all([
      startConsole({ ...(await prepare()), AGENT_URL: agent.url, CONTENT_URL: content.url }),
      launchChromium(),
    ]);
    stage = { rig, browser, wires: { agent, content } };
  });
  afterAll(async () => {
    await stage.browser.close();
    await stage.rig.close();
    await Promise.all(Object.values(stage.wires).map((wire) => wire.break()));
  });
  return (name, play) =>
    it(
      name,
      async ({ expect }) => {
        const visitor = await visitors.enter();
        try {
          await play({ ...visitor, ...stage, expect });
          expect(visitor.complaints).toEqual([]);
        } catch (error) {
          await visitor.context.close();
          throw error;
        }
        await visitors.leave(visitor);
      },
      endsWhatHangsMs,
    );
}
