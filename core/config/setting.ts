import type { Parser } from './parsers.ts';

/** A process in AWS that receives settings as environment variables. */
export type Recipient = 'resolver' | 'stream-task';

/** One setting of the service or of its deployment. The key in the settings table is its name. */
export interface Setting<T> {
  /** `both`: on one machine and in AWS. `one-machine`: environment alone. `aws`: CDK context alone. */
  readonly scope: 'both' | 'one-machine' | 'aws';
  /** The environment variable. In AWS the stack sets it from the CDK context. */
  readonly variable?: string;
  /** The name in CDK context. @default the setting's name */
  readonly context?: string;
  readonly parse: Parser<T>;
  /** Between the items of a list. @default , */
  readonly separator?: string;
  /** Absent: the setting is optional, or `computeDefault` or the deployment's profile supplies the value. */
  readonly default?: T;
  /** The default of a running host, from the settings that precede this one in the table. */
  readonly computeDefault?: (preceding: Readonly<Record<string, unknown>>) => T;
  /** The default in the documentation, where it is no constant. @default the value of `default`, else `none` */
  readonly defaultText?: string;
  /** Completes the error line for a variable that is set but blank. @default none: a blank variable counts as unset */
  readonly blankError?: string;
  /** One line for the documentation: the consequence of setting it. */
  readonly description: string;
  /** Processes in AWS to which the stack passes the variable. @default none */
  readonly passedTo?: readonly Recipient[];
  /**
   * Completes the error line for a setting of one machine in CDK context.
   * @default is for the service on one machine
   */
  readonly contextError?: string;
}

/** Settings by name. */
type SettingsTable = Readonly<Record<string, Setting<unknown>>>;

type Rows = Readonly<Record<string, Omit<Setting<unknown>, 'scope'>>>;
type InScope<Scope, Table> = { readonly [Name in keyof Table]: Table[Name] & { readonly scope: Scope } };

/** A table of settings of one scope. */
export const inScope = <const Scope extends Setting<unknown>['scope'], const Table extends Rows>(
  scope: Scope,
  rows: Table,
): InScope<Scope, Table> =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, scope }])) as InScope<Scope, Table>;

type ParsedType<S> = S extends { readonly parse: Parser<infer T> } ? Immutable<T> : never;
type Immutable<T> = T extends readonly (infer E)[] ? (T extends unknown[] ? readonly E[] : T) : T;

/** The values of a running host: present wherever the table has a default. */
export type HostValues<Table extends SettingsTable> = {
  readonly [N in keyof Table as HasHostDefault<Table[N]> extends true ? N : never]: ParsedType<Table[N]>;
} & {
  readonly [N in keyof Table as HasHostDefault<Table[N]> extends true ? never : N]?: ParsedType<Table[N]>;
};
type HasHostDefault<S> = S extends { readonly default: unknown } | { readonly computeDefault: unknown } ? true : false;

/** The values of a deployment, by context name: present where the table has a constant default. */
export type ContextValues<Table extends SettingsTable> = {
  readonly [N in keyof Table as IsContext<Table[N], true> extends true ? ContextName<Table, N> : never]: ParsedType<
    Table[N]
  >;
} & {
  readonly [N in keyof Table as IsContext<Table[N], false> extends true ? ContextName<Table, N> : never]?: ParsedType<
    Table[N]
  >;
};
type IsContext<S, WithDefault extends boolean> = S extends { readonly scope: 'one-machine' }
  ? false
  : S extends { readonly default: unknown }
    ? WithDefault
    : WithDefault extends true
      ? false
      : true;
type ContextName<Table extends SettingsTable, N extends keyof Table> = Table[N] extends {
  readonly context: infer C extends string;
}
  ? C
  : N;
