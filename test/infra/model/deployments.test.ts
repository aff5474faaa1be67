import { it } from 'vitest';
import { PROFILE_NAMES } from '../deployments.ts';
import { expectSound, type Name } from './changes.ts';

it.each<[from: Name, to: Name]>([
  ...PROFILE_NAMES.map((name): [Name, Name] => ['nothing', name]),
  ['hobby', 'team'],
  ['hobby', 'public'],
  ['team', 'public'],
])(
  'a deployment, its rollback and its deletion are accepted, wait for what they need, and leave nothing: %s ↔ %s',
  expectSound,
);
