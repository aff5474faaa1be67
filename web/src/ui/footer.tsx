import type { ComponentChildren } from 'preact';
import { bookmarklet } from '../lib/bookmarklet.ts';
import { LOCALE_NAMES, LOCALES } from '../lib/texts.ts';
import { usePage } from './context.ts';
import { InstallButton } from './install-button.tsx';

/** Language, ways to bring links here, where to read on, and what may be taken. */
export const Footer = ({ children }: { readonly children?: ComponentChildren }) => {
  const { texts, api, speak } = usePage();
  const { t, locale } = texts;
  return (
    <footer class="footer">
      <div class="wrap">
        <div class="footer-row">
          <nav class="footer-links" aria-label={t('footer.links')}>
            {children}
            <a href={`${api.base}/swagger/v1/swagger.json`}>{t('footer.api')}</a>
            <Bookmarklet />
            <InstallButton />
          </nav>
          <label class="language">
            {t('footer.language')}
            <select
              class="select"
              value={locale}
              onChange={({ currentTarget }) => speak(LOCALES.find((one) => one === currentTarget.value) ?? 'en')}
            >
              {LOCALES.map((one) => (
                <option key={one} value={one} lang={one}>
                  {LOCALE_NAMES[one]}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p>{t('footer.use')}</p>
      </div>
    </footer>
  );
};

/** To be dragged: clicked here it would only open this page on itself. */
const Bookmarklet = () => {
  const { t } = usePage().texts;
  return (
    <a
      class="bookmarklet"
      title={t('footer.bookmarklet.how')}
      aria-description={t('footer.bookmarklet.how')}
      // Preact leaves such an address as it is; the policy of the page forbids it to run here.
      href={bookmarklet(location.origin)}
      onClick={(event) => event.preventDefault()}
    >
      {t('footer.bookmarklet')}
    </a>
  );
};
