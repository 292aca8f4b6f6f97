/** The Overview while all services are ready, and while one is unreachable. */
import { judge } from './judging.fixture.ts';
import { enterAsOperator } from './rig.fixture.ts';
import type { Scene } from './stage.fixture.ts';

export function playOverview(scene: Scene): void {
  scene('every service is ready', async (given) => {
    const { page, rig, expect } = given;
    await enterAsOperator(given, rig);
    const services = Object.keys(rig.addresses).filter((name) => !['idp', 'cms', 'console'].includes(name));
    await page.getByText(`All ${services.length} services are ready`).waitFor();
    for (const service of services) await page.getByRole('button', { name: new RegExp(`^${service} `) }).waitFor();
    await page.getByText(rig.engine).waitFor();
    const queues = page.getByRole('region', { name: 'Queues' });
    await queues.getByText(/^No (other queue has a job that|job) is due\.$/).waitFor();
    for (const row of await queues.locator('tbody tr').allInnerTexts()) expect(row).toMatch(/\s[1-9]/);
    await judge(page, 'the overview');
  });

  scene('names an unavailable service on the overview and its pages, and recovers with it', async (given) => {
    const { page, context, rig, wires, complaints, expect } = given;
    await enterAsOperator(given, rig);
    await wires.content.break();
    try {
      await page.getByText('content is not ready').waitFor();
      const row = page.getByRole('row', { name: /^content / });
      expect(await row.innerText()).toContain('no answer');
      expect(await row.innerText()).not.toContain('answered');
      await judge(page, 'the overview without a service');
      const other = await context.newPage();
      await other.goto(`${rig.url}/operator/content`);
      await other.getByText('The service cannot be reached.').first().waitFor();
      await judge(other, 'content without its service');
      await wires.content.mend();
      await other.getByRole('button', { name: 'Try again' }).first().click();
      await other.getByRole('region', { name: 'Announcement' }).getByText('hidden').waitFor();
    } finally {
      await wires.content.mend().catch(() => undefined);
    }
    await page.getByText('services are ready').waitFor();
    expect(complaints.splice(0).filter((line) => !line.includes('ERR_CONNECTION'))).toEqual([]);
  });
}
