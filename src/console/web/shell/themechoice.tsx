import { Monitor, Moon, Sun } from 'lucide-react';
import { setTheme, themes, useTheme } from './browser.ts';
import { MenuChoice } from './menu.tsx';

const choices = [
  { value: 'system', title: 'System', Icon: Monitor },
  { value: 'light', title: 'Light', Icon: Sun },
  { value: 'dark', title: 'Dark', Icon: Moon },
];

export function ThemeChoice() {
  const theme = useTheme();
  return (
    <MenuChoice
      label="Theme"
      value={theme}
      choices={choices}
      onChange={(value) => setTheme(themes.find((one) => one === value) ?? 'system')}
    />
  );
}
