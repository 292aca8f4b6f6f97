// Loaded before the first paint, so that a dark theme never begins with a white page. `shell/browser.ts` follows changes.
{
  const theme = localStorage.getItem('atelier.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}
