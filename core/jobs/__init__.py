"""Work in the background: ingestion, rebuilding and purging by a process of their own, which outlives who asked for it.

store       `Jobs`: submit, look at, cancel and resume jobs; starts the worker
worker      the process that runs them, one at a time, one process per home
queue       what the worker does to jobs: takes the next, writes down how it ended, takes up what was interrupted
run         how each kind of job is run through the Workbench
progress    how far a job is, how fast, how long it will still take
records     a job's folder: its files, written so that they are there whole or not at all
liveness    the lock that a worker holds as long as it lives, and its start

HOME/jobs/<id>/request.json    what is to be done
HOME/jobs/<id>/job.json        its state, in whose name, how it ended
HOME/jobs/<id>/progress.json   while it runs
HOME/jobs/<id>/report.json     what was done, file by file
HOME/jobs/<id>/log.txt
HOME/jobs/<id>/uploads/        files that came with the request; deleted when it is done
HOME/jobs/worker.lock          held by the worker
HOME/jobs/worker.log           what the worker says beside the jobs' logs
"""
