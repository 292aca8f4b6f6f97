/** Who comes in how, and out again. */
import { judge } from './judging.fixture.ts';
import { chooseOption, enterAsOperator, followPrintedLink, signIn } from './rig.fixture.ts';
import { atNight, type Scene } from './stage.fixture.ts';

export function playAccess(scene: Scene): void {
  scene('the operator signs in by the link, and the token is removed from the URL', async (given) => {
    const { page, context, rig, expect } = given;
    await followPrintedLink(given, rig);
    expect(page.url()).toBe(`${rig.url}/operator`);
    expect(await page.evaluate('document.cookie')).toBe('');
    const [cookie] = await context.cookies(rig.url);
    expect(cookie).toMatchObject({ name: 'atelier_console', httpOnly: true, sameSite: 'Strict' });
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(stored).not.toContain(await rig.secret('CONSOLE_TOKEN'));
  });

  scene('the operator signs in by the form, with the keyboard only, and signs out', async (given) => {
    const { page, context, rig, complaints, expect } = given;
    await page.goto(`${rig.url}/operator`);
    await page.getByLabel('Token').focus();
    await page.keyboard.type('not the token at all');
    await page.keyboard.press('Enter');
    await page.getByText('The token is wrong.').waitFor();
    await judge(page, 'the form for the token');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
    await page.getByLabel('Token').fill('');
    await page.getByLabel('Token').focus();
    await page.keyboard.type(await rig.secret('CONSOLE_TOKEN'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Services' }).waitFor();
    await page.getByRole('button', { name: 'Operator' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Close operator session' }).press('Enter');
    await page.getByLabel('Token').waitFor();
    await expect.poll(() => context.cookies(rig.url)).toEqual([]);
    // The overview may have sent another request before the page changed.
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  atNight(scene)(
    'has one host name: other names of the loopback redirect to it',
    async ({ page, rig, complaints, expect }) => {
      const token = await rig.secret('CONSOLE_TOKEN');
      await page.goto(`${rig.url.replace('localhost', '127.0.0.1')}/#token=${token}`);
      await page.getByRole('heading', { name: 'Services' }).waitFor();
      expect(page.url()).toBe(`${rig.url}/operator`);
      // A hash without a token reads nothing again.
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.evaluate("location.hash = '#services'");
      await page.getByRole('link', { name: 'Audit', exact: true }).click();
      await page.getByRole('heading', { name: 'Audit' }).waitFor();
      expect(asked).not.toContain('/api/console');
      expect(complaints.splice(0).filter((line) => !line.includes('//127.0.0.1'))).toEqual([]);
    },
  );

  atNight(scene)('shows the sign-in after the session ended, on each page', async (given) => {
    const { page, context, rig, complaints, expect } = given;
    await enterAsOperator(given, rig);
    await context.clearCookies();
    await page.getByRole('link', { name: 'Memory', exact: true }).click();
    await page.getByLabel('Token').waitFor();
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  scene('a user signs in and out, in every page at once', async (given) => {
    const { page, context, rig, expect } = given;
    const way = page.getByRole('link', { name: 'Sign in as a demo user' });
    await page.goto(`${rig.url}/library`);
    await way.waitFor();
    await page.getByText('Sign in to see “Library”.').waitFor();
    // Its own button, and no field for a prompt, which would lead elsewhere.
    await page.getByRole('main').getByRole('link', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.getByLabel('Prompt').count()).toBe(0);
    await judge(page, 'the landing page');
    await signIn(given, `${rig.url}/library`);
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    expect(page.url()).toBe(`${rig.url}/library`);
    const second = await context.newPage();
    await second.goto(`${rig.url}/`);
    await second.getByRole('link', { name: 'Studio' }).waitFor();
    expect(second.url()).toContain('/studio');
    await chooseOption(page, 'Sign out');
    await way.waitFor();
    await second.reload();
    await second.getByRole('link', { name: 'Sign in as a demo user' }).waitFor();
  });
}
