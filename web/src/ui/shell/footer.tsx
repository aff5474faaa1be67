import { LOCALE_NAMES, LOCALES } from '../../lib/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Select } from '../controls/index.ts';
import { THEMES } from '../theme-store.ts';

/** Language, theme, the API and terms of use. */
export const Footer = () => {
  const { texts, api, theme, setLocale } = usePage();
  const { t, locale } = texts;
  const currentTheme = useObservable(theme.current);
  return (
    <footer class="footer">
      <div class="wrap">
        <div class="row footer-row">
          <a href={`${api.base}/swagger/v1/swagger.json`}>OpenAPI</a>
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
