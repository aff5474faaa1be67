import { readAddress, storeAddress, toOrigin } from './address.ts';

/** The options page: the address of the visitor's server. */
const find = <T extends Element>(selector: string): T => {
  const element = document.querySelector<T>(selector);
  if (!element) throw new Error(`No ${selector} in the options page`);
  return element;
};
const form = find<HTMLFormElement>('form');
const field = find<HTMLInputElement>('input');
const result = find<HTMLElement>('[role=status]');

document.documentElement.lang = chrome.i18n.getUILanguage();
document.documentElement.dir = chrome.i18n.getMessage('@@bidi_dir');
for (const element of document.querySelectorAll<HTMLElement>('[data-text]'))
  element.textContent = chrome.i18n.getMessage(element.dataset.text ?? '');

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const origin = toOrigin(field.value);
  if (origin) {
    await storeAddress(origin);
    field.value = origin;
  }
  field.setAttribute('aria-invalid', String(!origin));
  result.textContent = chrome.i18n.getMessage(origin ? 'saved' : 'invalid');
});

const address = await readAddress();
// The visitor may have begun to type.
field.value ||= address ?? '';
