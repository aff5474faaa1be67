import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import { Construct, type IDependable } from 'constructs';
import type { ServiceFunction } from '../shared/index.ts';
import type { Tools } from './tools.ts';

interface ToolUpdatesProps {
  readonly tools: Tools;
  readonly resolver: ServiceFunction;
  /** Updates start when this is complete, and end before it is deleted. */
  readonly toolsInstalled: IDependable;
  /** 0: only on demand. */
  readonly intervalHours: number;
}

/** Interval at which a failed first installation is retried; until it succeeds the instance is in maintenance. */
export const INSTALL_RETRY_INTERVAL = Duration.minutes(15);

/**
 * The update function of the tools and its schedules: for updates, and for retries while there are no tools. It
 * attaches releases that pass the canary to the resolver.
 */
export class ToolUpdates extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, { tools, resolver, toolsInstalled, intervalHours }: ToolUpdatesProps) {
    super(scope, id);
    this.function = tools.createReleaseFunction(this, 'Function', {
      name: 'update-tools',
      resolver,
    });
    // The next scheduled run is the retry: concurrent runs would wait for each other, and each failure raises one alarm.
    this.function.configureAsyncInvoke({ retryAttempts: 0 });
    const schedules = [
      ...(intervalHours > 0
        ? [this.function.invokeEvery(Duration.hours(intervalHours), 'Schedule', 'Checks for newer tools')]
        : []),
      this.function.invokeEvery(INSTALL_RETRY_INTERVAL, 'InstallMissing', 'Installs the tools while there are none', {
        onlyIfMissing: true,
      }),
    ];
    for (const schedule of schedules) schedule.node.addDependency(toolsInstalled);
    new CfnOutput(this, 'Command', {
      key: 'UpdateToolsCommand',
      description: 'Updates the tools now',
      value: `aws lambda invoke --region ${Stack.of(this).region} --function-name ${this.function.functionName} --invocation-type Event /dev/null`,
    });
  }
}
