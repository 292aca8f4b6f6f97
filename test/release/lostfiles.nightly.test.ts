/** A process whose folder is removed, as by an upgrade in place: its runs and streams still end. */
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { newLanePlace, root, run } from '../acceptance/running.fixture.ts';
import { everyNth } from '../lane.fixture.ts';

it.each(everyNth(['before its first run', 'during a run'], 2))(
  'ends runs and streams if its files are gone %s',
  {
    timeout: 120_000,
  },
  async (moment) => {
    const place = await newLanePlace();
    const folder = await mkdtemp(join(tmpdir(), 'atelier-lost-'));
    const build = findBuild();
    await cp(build, folder, { recursive: true, filter: (path) => path !== join(build, 'compiled') });
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const program = run('start', [], place.env, folder);
    const agent = `http://127.0.0.1:${place.portBase + 4}`;
    try {
      await program.waitFor('Atelier is ready');
      const printed = run('token', [], place.env);
      expect(await printed.ended()).toBe(0);
      const authorization = `Bearer ${/eyJ[\w.-]+/.exec(printed.output())?.[0]}`;
      const send = (path: string, json?: object) =>
        fetch(agent + path, {
          method: json ? 'POST' : 'GET',
          headers: { authorization, ...(json && { 'content-type': 'application/json' }) },
          ...(json && { body: JSON.stringify(json) }),
        });
      const start = async (text: string) => {
        const response = await send('/task', { threadId: randomUUID(), text });
        expect(response.status).toBe(201);
        return ((await response.json()) as { readonly taskId: string }).taskId;
      };
      // The program still writes into it.
      const lose = () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
      const taskIds: string[] = [];
      if (moment === 'during a run') {
        taskIds.push(await start('/slow 40'));
        const reader = (await send(`/stream/${taskIds[0]}`)).body?.getReader();
        await reader?.read();
        await reader?.cancel();
      }
      await lose();
      // These need parts of the program that may not be loaded yet.
      for (const text of ['Hello', 'Draw a lighthouse', '/fail']) taskIds.push(await start(text));
      for (const taskId of taskIds) {
        expect(await (await send(`/stream/${taskId}`)).text()).toContain('data: [DONE]');
        const task = (await (await send(`/task/${taskId}`)).json()) as { readonly status: string };
        expect(['completed', 'failed']).toContain(task.status);
      }
      expect((await fetch(`${agent}/health`)).status).toBe(200);
    } catch (error) {
      throw new Error(`${error}\n${program.output()}`, { cause: error });
    } finally {
      program.child.kill('SIGKILL');
      await place.remove();
      await rm(folder, { recursive: true, force: true });
    }
  },
);
