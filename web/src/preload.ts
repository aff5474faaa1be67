/*
 * Runs before the first paint of the prerendered shell, which is English and shows the start page: hides its texts from
 * speakers of another language, places the field as above a result where the address has a link, and applies the theme.
 */
const LINK_PARAMETERS = ['url', 'text', 'title'];
const root = document.documentElement;
const query = new URLSearchParams(location.search);
if (LINK_PARAMETERS.some((name) => query.has(name))) root.classList.add('opened');

const theme = stored('reelay.theme');
if (theme) root.dataset.theme = theme;

const language = [stored('reelay.language'), ...navigator.languages]
  .map((tag) => /^(?:en|de|fr|es|pt|ja|zh|ar)(?![a-z])/i.exec(tag)?.[0].toLowerCase())
  .find(Boolean);
if (language && language !== 'en') root.classList.add('translating');
if (language === 'ar') root.dir = 'rtl';

function stored(name: string): string {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    // Storage is forbidden.
    return '';
  }
}
