import { readAddress } from './address.ts';

/** Context menu items; `download` starts the download that Reelay preselects. */
const ITEMS = ['open', 'download'] as const;
type Item = (typeof ITEMS)[number];

chrome.runtime.onInstalled.addListener(({ reason }) => {
  // An update keeps the items of the version before.
  chrome.contextMenus.removeAll(() => {
    for (const id of ITEMS)
      chrome.contextMenus.create({
        id,
        title: chrome.i18n.getMessage(id),
        contexts: ['page', 'link', 'video', 'audio'],
      });
  });
  if (reason === 'install') void chrome.runtime.openOptionsPage();
});

chrome.action.onClicked.addListener((tab) => void openInReelay('open', [tab.url]));

chrome.contextMenus.onClicked.addListener(({ menuItemId, linkUrl, srcUrl, pageUrl }) => {
  // A player's source is often a blob, and a page without a link is what its address names.
  void openInReelay(menuItemId as Item, [linkUrl, srcUrl, pageUrl]);
});

/** Opens a tab for the first web link; the options while no server is known. Other pages, such as settings, are ignored. */
async function openInReelay(item: Item, candidates: readonly (string | undefined)[]): Promise<void> {
  const link = candidates.find((one) => one && /^https?:\/\//i.test(one));
  const origin = await readAddress();
  if (!origin) return chrome.runtime.openOptionsPage();
  if (!link) return;
  const url = `${origin}/?url=${encodeURIComponent(link)}${item === 'download' ? '#download' : ''}`;
  await chrome.tabs.create({ url });
}
