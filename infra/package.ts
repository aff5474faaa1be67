/** The entry point `reelay/infra` of the package, in which everything that is deployed lies beside it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Construct } from 'constructs';
import { Reelay as Service, type ReelayProps as ServiceProps } from './constructs/index.ts';

/** The settings of a deployment, each with its default, and parts of the app that the service uses. */
export type ReelayProps = Omit<ServiceProps, 'bundleDir'>;

/** The whole service behind one base URL, of this version. @throws SettingError when a setting is invalid; one line that names it */
export class Reelay extends Service {
  constructor(scope: Construct, id: string, props: ReelayProps = {}) {
    super(scope, id, { ...readDefaults(), ...props, bundleDir: join(import.meta.dirname, '..') });
  }
}

/** Settings of the package: the image of its release, where that has one. */
const readDefaults = (): Pick<ReelayProps, 'streamImage'> =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'defaults.json'), 'utf8'));
