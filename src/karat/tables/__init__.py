"""Tables of outputs, ratings or scores in any tabular file or frame.

    file or frame --> files.read_table    a Table: records by column
                  --> schemas.apply       known exports of other tools: one record per output or rating
                  --> roles.infer_roles   which column is the candidate, the judge, ...
                  --> outputs.TableRows   rows by role
                  --> evalset             an `EvalSet`, which every command takes

`read_outputs` does all of it.
"""
