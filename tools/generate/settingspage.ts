/** docs/config.md, from the declarations of the settings. */

import { settingGroups, textsOf } from '#app/settings.ts';
import type { SettingGroup } from '#platform/config.ts';

export function renderSettingsPage(groups: Readonly<Record<string, SettingGroup>> = settingGroups): string {
  const sections = Object.entries(groups).map(([name, group]) => {
    const rows = Object.values(group).map((setting) => {
      const { defaultText, meaning } = textsOf(setting);
      return `| \`${setting.variable}\` | ${defaultText} | ${setting.requiredInProduction ? 'yes' : ''} | ${meaning} |`;
    });
    return [
      `## ${name}`,
      '',
      '| variable | default | required in production | meaning |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n');
  });
  return [
    '# Settings',
    '',
    'This page lists all settings. Atelier reads them from the environment once, at the start, and reports all errors together, by name.',
    'It reads no `.env` file. An empty value counts as not set. Outside production, the first start generates missing secrets and stores them',
    'in `secrets.json` of the data folder.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}
