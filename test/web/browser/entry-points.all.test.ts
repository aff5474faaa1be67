import type { Download } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itWith } from '../../support/clients.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { startNginx } from '../../support/nginx.ts';
import { CLIPBOARD, eventually, it, titleOf, usePage, type Visitor } from '../fixtures/page.ts';

const { service, open, see, link } = usePage();

describe('a link arrives', () => {
  itWith('nginx')('below a path', async () => {
    const server = `location /reelay/ { proxy_pass ${service.baseUrl}/; proxy_set_header Host $http_host; }`;
    const { host } = closeAfterwards(await startNginx(async () => ({ server })));
    const visitor = await open(`http://${host}/reelay${service.pageFor('/site/combined/first')}`);
    await visitor.item('first');
    const files = visitor.page.locator('a[download]');
    for (const href of await files.evaluateAll((links) => links.map((one) => one.getAttribute('href'))))
      expect(href).toContain('/reelay/api/Stream/');
    await visitor.byRole('link', 'Reelay, start page').click();
    await eventually(() => visitor.page.getByRole('article').count()).toBe(0);
    expect(new URL(visitor.page.url()).pathname).toBe('/reelay/');
  });

  it('from the share target of the manifest', async () => {
    const manifest = `${service.baseUrl}/manifest.webmanifest`;
    const { action, params } = (await (await fetch(manifest)).json()).share_target;
    const { url, text, title } = params;
    const query = { [title]: 'A film', [text]: `See ${link('/site/combined/shared')}!`, [url]: '' };
    const visitor = await open(`${new URL(action, manifest).pathname}?${new URLSearchParams(query)}`);
    await visitor.item('shared');
  });

  it('from the clipboard, by a button', async () => {
    const visitor = await open('/', CLIPBOARD);
    await visitor.copy('no link');
    await visitor.press('Paste');
    await visitor.alerts('That’s not a link.');
    expect(await visitor.button('Paste').count()).toBe(0);
    await visitor.press('Clear');
    await visitor.copy(link('/site/combined/copied'));
    await visitor.press('Paste');
    await visitor.item('copied');
  });

  it('by drag and drop', async () => {
    const visitor = await open();
    const { page } = visitor;
    const dataTransfer = await page.evaluateHandle((uri) => {
      const data = new DataTransfer();
      data.setData('text/uri-list', `# a comment\r\n${uri}\r\n`);
      return data;
    }, link('/site/combined/dropped'));
    await page.dispatchEvent('footer', 'dragover', { dataTransfer });
    await page.dispatchEvent('footer', 'drop', { dataTransfer });
    await visitor.item('dropped');
  });

  it('with others, as a batch that is resolved one by one', async () => {
    const visitor = await open('/', CLIPBOARD);
    const ids = ['one', 'two', 'three'];
    const links = ids.map((id) => link(`/site/combined/${id}`));
    await visitor.fieldHasFocus();
    await visitor.paste(links.join('\n'));
    await visitor.heading('Pasted links');
    for (const id of ids) await visitor.heading(titleOf(id));
    expect(visitor.resolves()).toBe(3);
    expect(new URL(visitor.page.url()).searchParams.getAll('url')).toEqual(links);
    const files: Download[] = [];
    visitor.page.on('download', (file) => files.push(file));
    await visitor.press(/^Download 3/);
    await eventually(() => files.length).toBe(3);
    await visitor.page.reload();
    await visitor.heading(titleOf('two'));
  });

  it('with others and lines that are none, which are named; Enter after it is no fault', async () => {
    const visitor = await open('/', CLIPBOARD);
    await visitor.fieldHasFocus();
    const links = ['/site/combined/good', '/files/nowhere.mp4'].map((path) => link(path));
    await visitor.paste(`${links.join('\n')}\nnot one`);
    await visitor.page.keyboard.press('Enter');
    await visitor.heading('Pasted links');
    await visitor.alerts('Not opened: not one');
    await visitor.button(/^Download 1/).waitFor();
    const failed = visitor.byRole('checkbox', `Select ${links[1]}`);
    expect([await failed.isChecked(), await failed.isDisabled()]).toEqual([false, true]);
    expect(await visitor.byRole('checkbox', 'Select all').isChecked()).toBe(true);
    await visitor.field.focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.alerts('Not opened: not one');
    await visitor.byRole('link', 'Reelay, start page').click();
    await eventually(() => visitor.page.locator('#field-message').textContent()).toBe('');
  });

  it('with another in the field, and in a shared text', async () => {
    const links = ['first', 'second'].map((id) => link(`/site/combined/${id}`));
    const visitor = await open();
    await visitor.enter(links.join(' '));
    await visitor.heading(titleOf('second'));
    await visitor.page.goto(`/?text=${encodeURIComponent(links.join('\n'))}`);
    await visitor.heading('Pasted links');
    await visitor.heading(titleOf('first'));
  });

  it('while offline, and are tried again once the browser is online', async () => {
    const visitor = await see('/site/combined/before');
    await visitor.item('before');
    await visitor.context.setOffline(true);
    const links = ['one', 'two'].map((id) => link(`/site/combined/offline-${id}`));
    await visitor.enter(links.join(' '));
    await eventually(() => visitor.page.getByRole('alert').filter({ hasText: 'You’re offline' }).count()).toBe(2);
    await visitor.context.setOffline(false);
    for (const id of ['one', 'two']) await visitor.heading(titleOf(`offline-${id}`));
    await visitor.button(/^Download 2/).waitFor();
  });

  it('from the bookmarklet, whose address the keyboard copies', async () => {
    const visitor = await open('/', CLIPBOARD);
    await visitor.fieldHasFocus();
    await visitor.page.getByText('More ways to add links').click();
    await visitor.page.keyboard.press('Tab');
    await visitor.focused().toBe('Copy bookmark address');
    await visitor.page.keyboard.press('Enter');
    await visitor.announces('Copied.');
    const code = (await visitor.copied()).replace('javascript:', '');
    await visitor.page.goto(link('/site/combined/marked'));
    const opening = visitor.context.waitForEvent('page');
    await visitor.page.evaluate(decodeURIComponent(code));
    await (await opening).getByRole('article', { name: titleOf('marked') }).waitFor();
  });
});

describe('recent links', () => {
  it('are opened, and removed, by keyboard', async () => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    const press = async (name: Parameters<Visitor['button']>[0]) => {
      await visitor.button(name).focus();
      await page.keyboard.press('Enter');
    };
    for (const id of ['one', 'two', 'three']) {
      await page.goto(service.pageFor(`/site/combined/${id}`));
      await visitor.item(id);
    }
    await page.goto('/');
    await press(/^Remove .*three/);
    await page.locator('li:focus').waitFor();
    await page.keyboard.press('Tab');
    await visitor.focused().toBe(titleOf('two'));
    await page.keyboard.press('Enter');
    await visitor.focusIsOnResult();
    await page.goto('/');
    page.once('dialog', (question) => question.dismiss());
    await press('Clear history');
    await visitor.byRole('link', titleOf('two')).waitFor();
    const questions: string[] = [];
    page.once('dialog', (question) => {
      questions.push(question.message());
      return question.accept();
    });
    await press('Clear history');
    await visitor.byRole('heading', /^Recent/).waitFor({ state: 'detached' });
    expect(questions).toEqual(['Clear the history on this device?']);
    await page.locator('main:focus').waitFor();
  });

  it('are cleared in every tab', async () => {
    const visitor = await see('/site/combined/secret');
    await visitor.item('secret');
    await visitor.byRole('link', 'Reelay, start page').click();
    const other = await visitor.context.newPage();
    await other.goto('/');
    other.on('dialog', (question) => question.accept());
    await other.getByRole('button', { name: 'Clear history' }).click();
    await visitor.byRole('heading', /^Recent/).waitFor({ state: 'detached' });
    await visitor.enter(link('/site/combined/next'));
    await visitor.item('next');
    expect(await visitor.page.evaluate(() => JSON.stringify(localStorage))).not.toContain('secret');
  });

  it('follow the text direction of the language', async () => {
    const visitor = await see('/site/combined/rtl', { locale: 'ar' });
    await visitor.item('rtl');
    await visitor.page.goto('/');
    const author = visitor.page.getByRole('listitem').locator('bdi').getByText('Ärtist Example');
    const [start, end] = await author.evaluate((name) => {
      const rest = document.createRange();
      rest.setStartAfter(name);
      rest.setEndAfter(name.parentElement?.lastChild ?? name);
      return [name.getBoundingClientRect().left, rest.getBoundingClientRect().right] as const;
    });
    expect(start).toBeGreaterThanOrEqual(end - 1);
  });

  /** Downloads an item in a format that is not the preselected one, and returns to the start page. */
  async function downloadAndReturn(id: string) {
    const visitor = await see(`/site/combined/${id}`, CLIPBOARD);
    await visitor.page.goto(`${service.pageFor(`/site/combined/${id}`)}&quality=mp3`);
    const name = (await visitor.download(/^Download .*kbps/)).suggestedFilename();
    await visitor.byRole('link', 'Reelay, start page').click();
    const row = visitor.page.getByRole('listitem').filter({ hasText: id });
    return { visitor, name, row, again: row.getByRole('button', { name: /^Download .* again$/ }) };
  }

  it('are downloaded again as the same file, and copied', async () => {
    const { visitor, name, row, again } = await downloadAndReturn('kept');
    await row.getByTitle('Downloaded').waitFor();
    expect((await visitor.download(again)).suggestedFilename()).toBe(name);
    await row.getByRole('button', { name: /^Copy the link of / }).click();
    await visitor.announces('Copied.');
    expect(await visitor.copied()).toBe(link('/site/combined/kept'));
  });

  it('are opened and downloaded once the address of the file has expired', async () => {
    const { visitor, again } = await downloadAndReturn('expired');
    await visitor.refuse('Stream/', { status: 404 });
    await again.click();
    await visitor.item('expired');
    await visitor.announces('Link expired');
    await visitor.admit();
    expect((await visitor.download()).suggestedFilename()).toContain('expired');
  });
});

describe('the page', () => {
  it('uses the selected theme from its first paint on, and that of the device again', async () => {
    const visitor = await open('/', { colorScheme: 'light' });
    const { page } = visitor;
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const barColor = () =>
      page.locator('meta[name=theme-color]:is([media=all], [media$="light)"])').getAttribute('content');
    const [light, lightBar] = [await ground(), await barColor()];
    const theme = visitor.menu('Theme');
    await theme.selectOption('Dark');
    const dark = await ground();
    expect(dark).not.toBe(light);
    expect(await barColor()).not.toBe(lightBar);
    await page.route('**/assets/shell-*.js', async (route) => {
      await theme.waitFor({ state: 'detached' });
      // Transparent until the style sheet is applied.
      await eventually(ground).not.toBe('rgba(0, 0, 0, 0)');
      expect(await ground()).toBe(dark);
      await route.continue();
    });
    await page.reload();
    await theme.selectOption('System');
    expect([await ground(), await barColor()]).toEqual([light, lightBar]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await ground()).toBe(dark);
  });

  it('leads from a path that does not exist to the start page', async () => {
    const visitor = await open('/unknown');
    await visitor.heading('Page not found');
    await visitor.byRole('link', 'Back to Reelay').click();
    await visitor.field.waitFor();
  });
});
