/** Where the address of the Reelay server is stored; synchronized by browsers that do so. */
const NAME = 'address';

/** The address without a slash at its end of the visitor's Reelay server; undefined before one was entered. */
export async function readAddress(): Promise<string | undefined> {
  const { [NAME]: stored } = await chrome.storage.sync.get(NAME);
  return typeof stored === 'string' ? toOrigin(stored) : undefined;
}

/** @param origin of `toOrigin` */
export const storeAddress = (origin: string): Promise<void> => chrome.storage.sync.set({ [NAME]: origin });

/** The origin of a typed address, https without a scheme; undefined when it is none. */
export function toOrigin(text: string): string | undefined {
  const trimmed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`);
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password
    ? url.origin + url.pathname.replace(/\/+$/, '')
    : undefined;
}
