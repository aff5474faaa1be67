import { describe, expect, it } from 'vitest';
import { framedBy } from '../../../core/api/framed-by.ts';

const PAGE = 'https://page.example';

describe('framedBy', () => {
  const headers = {
    'Content-Security-Policy': "default-src 'self'; frame-ancestors 'none'",
    'X-Frame-Options': 'DENY',
  };

  it('names the origins in the policy, in place of X-Frame-Options, which cannot', () =>
    expect(framedBy({ ...headers, 'Referrer-Policy': 'origin' }, [PAGE, 'https://other.example'])).toEqual({
      'Content-Security-Policy': `default-src 'self'; frame-ancestors ${PAGE} https://other.example`,
      'Referrer-Policy': 'origin',
    }));

  it('refuses a policy that does not say who may', () =>
    expect(() => framedBy({ 'Content-Security-Policy': "default-src 'self'" }, [PAGE])).toThrow('frame-ancestors'));
});
