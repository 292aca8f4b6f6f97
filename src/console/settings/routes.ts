/** The Settings page: the effective configuration without secrets, and the checks of `npm run doctor`. */

import type { Routes } from '#platform/http/routes.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { consoleProblems } from '../problems.ts';

interface ShownSetting {
  readonly variable: string;
  readonly meaning: string;
  /** `null`: not set. Secrets are masked. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly isDefault: boolean;
  /** The default, as docs/config.md shows it. */
  readonly defaultText: string;
  /** In production, it has to be set. */
  readonly isRequired: boolean;
}

export interface SettingsView {
  readonly groups: readonly { readonly name: string; readonly settings: readonly ShownSetting[] }[];
  /** Parts that run on a local stand-in, and the setting that configures the real service. */
  readonly standIns: readonly Readonly<Record<'part' | 'state' | 'setting', string>>[];
  readonly warnings: readonly string[];
}

export interface SettingsFinding {
  readonly state: 'ok' | 'warn' | 'FAULT';
  readonly name: string;
  readonly sentence: string;
}
export interface Examination {
  readonly findings: readonly SettingsFinding[];
  /** `null`: not all checks have ended. */
  readonly checkedAt: string | null;
}

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
    handler: async () => describe(),
  });

  routes.get('/api/settings/doctor', guard, {
    summary: 'The checks of this process that have ended',
    handler: async () => found,
  });

  routes.post('/api/settings/doctor', guard, {
    summary: 'Check every engine and service',
    handler: async () => {
      if (isRunning || performance.now() - endedAtMs < pauseMs) throw consoleProblems.doctor_is_busy();
      isRunning = true;
      const findings: SettingsFinding[] = [];
      found = { findings, checkedAt: null };
      try {
        const all = await examine((one) => findings.push(one));
        found = { findings: all, checkedAt: new Date().toISOString() };
        return found;
      } finally {
        isRunning = false;
        endedAtMs = performance.now();
      }
    },
  });
}
