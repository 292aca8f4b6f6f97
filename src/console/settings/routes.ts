/** The Settings page: the effective configuration without secrets, and the checks of `npm run doctor`. */

import { z } from 'zod';
import type { Routes } from '#platform/http/routes.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';

const setting = z.object({
  variable: z.string(),
  meaning: z.string(),
  value: z.string().nullable().describe('`null`: not set. Secrets are masked.'),
  isSecret: z.boolean(),
  isDefault: z.boolean(),
  defaultText: z.string().describe('The default, as docs/config.md shows it.'),
  isRequired: z.boolean().describe('In production, it has to be set.'),
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
export const examination = z.object({
  findings: z.array(finding),
  checkedAt: z.iso.datetime().nullable().describe('`null`: not all checks have ended.'),
});
export type Examination = z.output<typeof examination>;

export interface SettingsSource {
  readonly describe: () => SettingsView;
  /** Runs the checks of `npm run doctor`, which call every engine and external service. */
  readonly examine: (onFinding: (finding: SettingsFinding) => void) => Promise<readonly SettingsFinding[]>;
}

/** The checks open connections of their own, and some cost money. */
const pauseMs = 10_000;

export function addSettingsRoutes(routes: Routes, guard: OperatorGuard, { describe, examine }: SettingsSource): void {
  let isRunning = false;
  let endedAtMs = Number.NEGATIVE_INFINITY;
  let found: Examination = { findings: [], checkedAt: null };

  routes.get('/api/settings', guard, {
    summary: 'The effective configuration',
    response: { 200: settingsView },
    handler: async () => describe(),
  });

  routes.get('/api/settings/doctor', guard, {
    summary: 'The checks of this process that have ended',
    response: { 200: examination },
    handler: async () => found,
  });

  routes.post('/api/settings/doctor', guard, {
    summary: 'Check every engine and service',
    response: { 200: examination },
    handler: async () => {
      if (isRunning || performance.now() - endedAtMs < pauseMs) throw consoleProblems.doctor_is_busy();
      isRunning = true;
      found = { findings: [], checkedAt: null };
      try {
        const findings = await examine((one) => found.findings.push(one));
        found = { findings: [...findings], checkedAt: new Date().toISOString() };
        return found;
      } finally {
        isRunning = false;
        endedAtMs = performance.now();
      }
    },
  });
}
