import type { ComponentChildren } from 'preact';
import { LOCALE_NAMES, LOCALES } from '../../lib/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Select } from '../controls/index.ts';
import { THEMES } from '../theme-store.ts';
import { InstallButton } from './install-button.tsx';

export interface FooterProps {
  /** More links. */
  readonly children?: ComponentChildren;
}

/** Language, theme, links and terms of use. */
export const Footer = ({ children }: FooterProps) => {
  const { texts, api, theme, setLocale } = usePage();
  const { t, locale } = texts;
  const currentTheme = useObservable(theme.current);
  return (
    <footer class="footer">
      <div class="wrap">
        <div class="row footer-row">
          <nav class="row footer-links" aria-label={t('footer.links')}>
            {children}
            <a href={`${api.base}/swagger/v1/swagger.json`}>{t('footer.api')}</a>
            <InstallButton />
          </nav>
          <div class="row footer-settings">
            <Select
              label={t('footer.language')}
              value={locale}
              options={LOCALES}
              nameOf={(one) => LOCALE_NAMES[one]}
              languageOf={(one) => one}
              onChange={setLocale}
            />
            <Select
              label={t('footer.theme')}
              value={currentTheme}
              options={THEMES}
              nameOf={(one) => t(`footer.theme.${one}`)}
              onChange={theme.set}
            />
          </div>
        </div>
        <p>{t('footer.use')}</p>
      </div>
    </footer>
  );
};
