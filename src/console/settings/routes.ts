/** The Settings page: the effective configuration without secrets, and the checks of `npm run doctor`. */

import { z } from 'zod';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';

const setting = z.object({
  variable: z.string(),
  meaning: z.string(),
  value: z.string().nullable().describe('`null`: not set. Secrets are masked.'),
  isSecret: z.boolean(),
  isDefault: z.boolean(),
});

export const settingsView = z.object({
  groups: z.array(z.object({ name: z.string(), settings: z.array(setting) })),
  standIns: z
    .array(z.object({ part: z.string(), state: z.string(), setting: z.string() }))
    .describe('Parts that run on a local stand-in, and the setting that configures the real service.'),
  warnings: z.array(z.string()),
});
export type SettingsView = z.output<typeof settingsView>;

const finding = z.object({ state: z.enum(['ok', 'warn', 'FAULT']), name: z.string(), sentence: z.string() });
export type SettingsFinding = z.output<typeof finding>;
export const examination = z.object({ findings: z.array(finding), checkedAt: z.iso.datetime() });
export type Examination = z.output<typeof examination>;

export interface SettingsSource {
  readonly describe: () => SettingsView;
  /** Runs the checks of `npm run doctor`, which call every engine and external service. */
  readonly examine: () => Promise<readonly SettingsFinding[]>;
}

/** The checks open connections of their own, and some cost money. */
const pauseMs = 10_000;

export function addSettingsRoutes(app: HttpServer, guard: OperatorGuard, { describe, examine }: SettingsSource): void {
  const routes = routesOf(app, 'console');
  let isRunning = false;
  let endedAtMs = Number.NEGATIVE_INFINITY;

  routes.get(
    '/api/settings',
    guard,
    { summary: 'The effective configuration', response: { 200: settingsView } },
    async () => describe(),
  );

  routes.post(
    '/api/settings/doctor',
    guard,
    { summary: 'Check every engine and service', response: { 200: examination } },
    async () => {
      if (isRunning || performance.now() - endedAtMs < pauseMs) throw consoleProblems.doctor_is_busy();
      isRunning = true;
      try {
        return { findings: [...(await examine())], checkedAt: new Date().toISOString() };
      } finally {
        isRunning = false;
        endedAtMs = performance.now();
      }
    },
  );
}
