import type { ComponentChildren } from 'preact';
import { LOCALE_NAMES, LOCALES } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Select } from '../controls/index.ts';
import { InstallButton } from './install-button.tsx';

export interface FooterProps {
  /** More links. */
  readonly children?: ComponentChildren;
  /** Settings besides the language. */
  readonly settings?: ComponentChildren;
}

/** Language, links and terms of use. */
export const Footer = ({ children, settings }: FooterProps) => {
  const { texts, api, setLocale: speak } = usePage();
  const { t, locale } = texts;
  return (
    <footer class="footer">
      <div class="wrap">
        <div class="footer-row">
          <nav class="footer-links" aria-label={t('footer.links')}>
            {children}
            <a href={`${api.base}/swagger/v1/swagger.json`}>{t('footer.api')}</a>
            <InstallButton />
          </nav>
          <Select
            label={t('footer.language')}
            value={locale}
            options={LOCALES}
            nameOf={(one) => LOCALE_NAMES[one]}
            languageOf={(one) => one}
            onChange={speak}
          />
        </div>
        {settings}
        <p>{t('footer.use')}</p>
      </div>
    </footer>
  );
};
