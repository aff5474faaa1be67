import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const certificateFile = join(import.meta.dirname, 'certificate.pem');

/** A self-signed certificate for `origin.test` and 127.0.0.1, and its key. */
export const certificate = {
  cert: readFileSync(certificateFile, 'utf8'),
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglwBC7K3Qtb/hQT8x
GB2KzTnwM9Zz4/zYmGz/k6zUbHihRANCAAR/C3yso6P6TMNXFrCyBi4z+SH8Q0Yy
q48u6uRzxQMpM2zi6V4sziGbJFpESn4VZe5lodG3Ap8U6EPK5C910zEq
-----END PRIVATE KEY-----
`,
};
